-- Each sample of an offset or a lag stands in one window.
with source_rows as (
    select * from {{ ref('int_groups__lag_samples') }}
),

mart_rows as (
    select * from {{ ref('fct_group_lag_status') }}
),

expected as (
    select
        cluster_id,
        count(*) as samples,
        sum(evidence_count) as evidence_count
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(samples) as samples,
        sum(evidence_count) as evidence_count
    from mart_rows
    where status_kind = 'evaluated'
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.samples as expected_samples,
        found.samples as found_samples,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.samples, 0) <> coalesce(found.samples, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
