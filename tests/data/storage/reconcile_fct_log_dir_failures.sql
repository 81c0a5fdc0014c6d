-- Each record of a failed directory is behind a row; one that names several directories is behind a row of each.
with source_rows as (
    select * from {{ ref('stg_logs__log_dir_events') }}
),

mart_rows as (
    select * from {{ ref('fct_log_dir_failures') }}
),

expected as (
    select
        cluster_id,
        sum(greatest(size(split(coalesce(log_dir, log_dirs, ''), ',')), 1)) as evidence_count
    from source_rows
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
