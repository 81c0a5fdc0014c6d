-- Each failed fetch of a replica that its own node did not end is behind one row.
with source_rows as (
    select * from {{ ref('stg_logs__fetcher_errors') }}
),

mart_rows as (
    select * from {{ ref('fct_fetcher_disconnects_hourly') }}
),

expected as (
    select
        cluster_id,
        count(*) as evidence_count
    from source_rows
    where
        coalesce(exception_message, '') not like '%shutdown before response%'
        and coalesce(exception, '') not like '%ClosedSelector%'
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
