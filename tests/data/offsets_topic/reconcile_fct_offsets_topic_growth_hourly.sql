-- Every roll, deletion, cleaning and measured size of a placed partition falls into one hour.
with source_rows as (
    select * from {{ ref('stg_logs__offsets_events') }}
    where node_id is not null and partition_id is not null
),

measures as (
    select * from {{ ref('int_offsets__sizes') }}
),

mart_rows as (
    select * from {{ ref('fct_offsets_topic_growth_hourly') }}
),

counted as (
    select
        cluster_id,
        event_type
    from source_rows
    union all
    select
        cluster_id,
        'size_measured' as event_type
    from measures
),

expected as (
    select
        cluster_id,
        count_if({{ has_role('segment_roll') }}) as segments_rolled,
        count_if({{ has_role('segment_deletion') }}) as segments_deleted,
        count_if({{ has_role('cleaning_end') }}) as cleaner_runs,
        count(*) as evidence_count
    from counted
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(segments_rolled) as segments_rolled,
        sum(segments_deleted) as segments_deleted,
        sum(cleaner_runs) as cleaner_runs,
        sum(
            case
                when not exists(warnings, warning -> warning like 'no record in this hour%')
                    then evidence_count
            end
        ) as evidence_count
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.segments_rolled as expected_segments_rolled,
        found.segments_rolled as found_segments_rolled,
        expected.segments_deleted as expected_segments_deleted,
        found.segments_deleted as found_segments_deleted,
        expected.cleaner_runs as expected_cleaner_runs,
        found.cleaner_runs as found_cleaner_runs,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.segments_rolled, 0) <> coalesce(found.segments_rolled, 0)
        or coalesce(expected.segments_deleted, 0) <> coalesce(found.segments_deleted, 0)
        or coalesce(expected.cleaner_runs, 0) <> coalesce(found.cleaner_runs, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
