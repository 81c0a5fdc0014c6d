with windows as (
    select * from {{ ref('int_groups__lag_windows') }}
),

reports as (
    select * from {{ ref('int_groups__lag_reports') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        topic_name,
        partition_id,
        source_kind,
        'evaluated' as status_kind,
        status,
        window_started_at,
        window_ended_at,
        samples,
        first_offset,
        last_offset,
        first_lag,
        last_lag,
        is_incomplete,
        coalesce(
            status in ('STOP', 'STALL') and not has_commit_times and coalesce(has_member, true),
            false
        ) as is_stop_or_stall,
        coalesce(status = 'STOP' and is_level_at_last_commit, false) as is_stop_doubtful,
        is_dated_by_file,
        evidence,
        evidence_count
    from windows
    union all
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        topic_name,
        partition_id,
        source_kind,
        'reported' as status_kind,
        status,
        reported_at as window_started_at,
        reported_at as window_ended_at,
        1 as samples,
        cast(null as bigint) as first_offset,
        cast(null as bigint) as last_offset,
        lag as first_lag,
        lag as last_lag,
        false as is_incomplete,
        false as is_stop_or_stall,
        false as is_stop_doubtful,
        is_dated_by_file,
        evidence,
        evidence_count
    from reports
)

select * from final
