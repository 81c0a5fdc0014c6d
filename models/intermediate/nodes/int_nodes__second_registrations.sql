with registration_records as (
    select * from {{ ref('int_brokers__registration_records') }}
    where broker_epoch is not null and not is_starting
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

-- A registration has an epoch of its own.
registrations as (
    select
        cluster_id,
        broker_id,
        broker_epoch,
        min(logged_at) as known_since_at
    from registration_records
    group by cluster_id, broker_id, broker_epoch
),

-- A process registers once. If controllers register its broker again while it seems to run, its log lacks its end and the start of another.
final as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number
    from runs
    inner join registrations
        on
            runs.cluster_id = registrations.cluster_id
            and runs.node_id = registrations.broker_id
            and coalesce(runs.started_at, runs.first_seen_at) <= registrations.known_since_at
            and runs.last_seen_at >= registrations.known_since_at
    group by runs.cluster_id, runs.node_id, runs.run_number
    having count(*) > 1
)

select * from final
