-- Every deadlock of every dump is evidence of one row.
with source_rows as (
    select * from {{ ref('stg_captures__deadlocks') }}
),

mart_rows as (
    select * from {{ ref('fct_thread_deadlocks') }}
),

expected as (
    select
        cluster_id,
        count(*) as deadlocks
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(evidence_count) as deadlocks
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.deadlocks as expected_deadlocks,
        found.deadlocks as found_deadlocks
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where coalesce(expected.deadlocks, 0) <> coalesce(found.deadlocks, 0)
)

select * from final
