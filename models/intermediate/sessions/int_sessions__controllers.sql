with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

signs as (
    select
        cluster_id,
        node_id
    from session_events
    where zookeeper_client = 'KRaft Migration'
    union all
    select
        cluster_id,
        node_id
    from runs
    where contains(process_roles, 'controller') and not contains(process_roles, 'broker')
),

final as (
    select
        cluster_id,
        node_id
    from signs
    where node_id is not null
    group by cluster_id, node_id
)

select * from final
