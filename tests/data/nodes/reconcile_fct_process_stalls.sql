-- Each stall is one row with all of its evidence.
with source_rows as (
    select * from {{ ref('int_processes__stalls_merged') }}
),

mart_rows as (
    select * from {{ ref('fct_process_stalls') }}
),

expected as (
    select
        cluster_id,
        count(*) as stalls,
        sum(evidence_count) as evidence_count
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as stalls,
        sum(evidence_count) as evidence_count
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.stalls as expected_stalls,
        found.stalls as found_stalls,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.stalls, 0) <> coalesce(found.stalls, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
