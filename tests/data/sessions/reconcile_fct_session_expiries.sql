-- Each end of a session is one row with all of its evidence.
with source_rows as (
    select * from {{ ref('int_sessions__ended') }}
),

mart_rows as (
    select * from {{ ref('fct_session_expiries') }}
),

expected as (
    select
        cluster_id,
        count(*) as expiries,
        sum(evidence_count) as evidence_count
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as expiries,
        sum(evidence_count) as evidence_count
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.expiries as expected_expiries,
        found.expiries as found_expiries,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.expiries, 0) <> coalesce(found.expiries, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
