-- The shapes hold as many records as parse coverage counts without an event, but for orphans.
with records as (
    select * from {{ ref('stg_logs__records') }}
),

mart_rows as (
    select * from {{ ref('fct_unrecognised_shapes') }}
),

expected as (
    select
        cluster_id,
        count_if(outcome = 'unrecognised') as records
    from records
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(records) as records
    from mart_rows
    group by cluster_id
),

final as (
    select
        expected.cluster_id,
        expected.records as expected_records,
        found.records as found_records
    from expected
    left join found on expected.cluster_id = found.cluster_id
    where expected.records <> coalesce(found.records, 0)
)

select * from final
