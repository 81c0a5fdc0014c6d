-- The nodes of an incident are those of its events, each once.
with bridge as (
    select * from {{ ref('bridge_incident_nodes') }}
),

events as (
    select * from {{ ref('fct_incident_events') }}
),

affected as (
    select
        incident_key,
        explode(nodes) as node_id
    from events
),

expected as (
    select
        incident_key,
        node_id
    from affected
    group by incident_key, node_id
),

final as (
    select
        coalesce(expected.incident_key, bridge.incident_key) as incident_key,
        expected.node_id as expected_node_id,
        bridge.node_id as found_node_id
    from expected
    full outer join bridge
        on expected.incident_key = bridge.incident_key and expected.node_id = bridge.node_id
    where expected.node_id is null or bridge.node_id is null
)

select * from final
