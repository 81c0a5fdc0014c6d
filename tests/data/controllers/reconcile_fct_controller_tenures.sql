-- Each term is one tenure with all of its evidence, and no other is.
with source_rows as (
    select * from {{ ref('int_controllers__terms') }}
),

mart_rows as (
    select * from {{ ref('fct_controller_tenures') }}
),

expected as (
    select
        cluster_id,
        count(*) as tenures,
        sum(evidence_count) as evidence_count
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as tenures,
        sum(evidence_count) as evidence_count
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.tenures as expected_tenures,
        found.tenures as found_tenures,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.tenures, 0) <> coalesce(found.tenures, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
