-- Every load that a node logs as completed or failed is one row with that outcome; a line that
-- confirms an earlier one, or that comes after the partition was unloaded, may add none.
with source_rows as (
    select * from {{ ref('stg_logs__coordinator_load_events') }}
),

mart_rows as (
    select * from {{ ref('fct_coordinator_loads') }}
),

expected as (
    select
        cluster_id,
        count_if({{ has_role('coordinator_load_end') }}) as completed,
        count_if({{ has_role('coordinator_load_failure') }}) as failed
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count_if(outcome = 'completed') as completed,
        count_if(outcome = 'failed') as failed
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.completed as expected_completed,
        found.completed as found_completed,
        expected.failed as expected_failed,
        found.failed as found_failed
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.completed, 0) <> coalesce(found.completed, 0)
        or coalesce(expected.failed, 0) <> coalesce(found.failed, 0)
)

select * from final
