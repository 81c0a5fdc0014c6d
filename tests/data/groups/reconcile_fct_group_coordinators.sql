-- All claims of who coordinates a group are in the stretches, with all their evidence, and none stands twice.
with source_rows as (
    select * from {{ ref('int_groups__coordinator_claims') }}
),

mart_rows as (
    select * from {{ ref('fct_group_coordinators') }}
),

expected as (
    select
        cluster_id,
        sum(evidence_count) as claims
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(evidence_count) as claims
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.claims as expected_claims,
        found.claims as found_claims
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.claims, 0) <> coalesce(found.claims, 0)
)

select * from final
