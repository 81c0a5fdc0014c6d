with windows as (
    select * from {{ ref('int_groups__lag_windows') }}
),

reports as (
    select * from {{ ref('int_groups__lag_reports') }}
),

timed as (
    select
        *,
        unix_millis(judged_at) - unix_millis(window_ended_at)
        > unix_millis(window_ended_at) - unix_millis(window_started_at) as is_silent,
        -- Only Burrow's own samples have the time of a commit; a describe says whether anyone consumes instead.
        source_kind in ('kafka_groups_describe', 'kafka_consumer_offset_checker') as is_poll
    from windows
),

-- Burrow, core/internal/evaluator/caching.go: rules 1 to 5, the first that holds.
evaluated as (
    select
        *,
        case
            when smallest_lag <= 0 then 'OK'
            when samples < 2 or offsets < samples or lags < samples then null
            when min_offset_growth < 0 then 'REWIND'
            when is_poll and max_offset_growth = 0 and not coalesce(has_member, true) then 'STOP'
            when not is_poll and is_silent then 'STOP'
            when min_offset_growth = 0 and max_offset_growth = 0 then 'STALL'
            when min_lag_growth >= 0 then 'WARN'
            else 'OK'
        end as status
    from timed
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
        samples < {{ var('burrow_window_samples') }} as is_incomplete,
        evidence,
        evidence_count
    from evaluated
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
        evidence,
        evidence_count
    from reports
)

select * from final
