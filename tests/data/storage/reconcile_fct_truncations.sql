-- Each line of a cut is behind one row.
with source_rows as (
    select * from {{ ref('stg_logs__truncation_events') }}
),

mart_rows as (
    select * from {{ ref('fct_truncations') }}
),

expected as (
    select
        cluster_id,
        count(*) as evidence_count
    from source_rows
    where telling_kind in ('cut', 'reset') and to_offset is not null
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(evidence_count) as evidence_count
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
