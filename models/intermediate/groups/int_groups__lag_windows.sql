with samples as (
    select * from {{ ref('int_groups__lag_samples') }}
),

numbered as (
    select
        *,
        cast(sampled_at as date) as sampled_date,
        row_number() over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
                cast(sampled_at as date)
            order by sampled_at
        ) as sample_number,
        lead(sampled_at) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
            order by sampled_at
        ) as next_sampled_at,
        max(sampled_at) over (partition by cluster_id, source_kind) as source_last_at
    from samples
),

placed_in_windows as (
    select
        *,
        cast(floor((sample_number - 1) / {{ var('burrow_window_samples') }}) as int)
            as window_number
    from numbered
),

compared as (
    select
        *,
        committed_offset - lag(committed_offset) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
                sampled_date, window_number
            order by sampled_at
        ) as offset_growth,
        lag - lag(lag) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
                sampled_date, window_number
            order by sampled_at
        ) as lag_growth
    from placed_in_windows
),

-- A window is judged (Burrow's `now`) when the next sample comes; the last one at the time of the
-- source's last record.
final as (
    select
        cluster_id,
        cluster_incarnation,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        sampled_date,
        window_number,
        min(sampled_at) as window_started_at,
        max(sampled_at) as window_ended_at,
        coalesce(max_by(next_sampled_at, sampled_at), max(source_last_at)) as judged_at,
        cast(count(*) as int) as samples,
        min_by(committed_offset, sampled_at) as first_offset,
        max_by(committed_offset, sampled_at) as last_offset,
        min_by(lag, sampled_at) as first_lag,
        max_by(lag, sampled_at) as last_lag,
        min(lag) as smallest_lag,
        count(committed_offset) as offsets,
        count(lag) as lags,
        min(offset_growth) as min_offset_growth,
        max(offset_growth) as max_offset_growth,
        min(lag_growth) as min_lag_growth,
        bool_or(has_member) as has_member,
        slice(
            flatten(
                transform(
                    sort_array(collect_list(struct(sampled_at, evidence))),
                    sample -> sample.evidence
                )
            ),
            1,
            10
        ) as evidence,
        sum(evidence_count) as evidence_count
    from compared
    group by
        cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
        sampled_date, window_number
)

select * from final
