with members as (
    select * from {{ ref('int_incidents__members') }}
),

facts as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        event_key,
        fact.*
    from members
        lateral view explode(facts) all_facts as fact
),

-- A fact may be part of several events of its incident: a set that lost two replicas is an event of each node.
grouped as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        fact_name,
        fact_key,
        min_by(event_key, struct(happened_at, event_key)) as event_key,
        min(happened_at) as happened_at,
        array_distinct(flatten(collect_list(node_ids))) as node_ids,
        max(topic_key) as topic_key,
        max(partition_key) as partition_key,
        max(group_key) as group_key
    from facts
    group by incident_key, cluster_id, cluster_incarnation, fact_name, fact_key
),

named as (
    select
        *,
        if(size(node_ids) = 1, get(node_ids, 0), null) as node_id
    from grouped
),

final as (
    select
        {{ row_key(['incident_key', 'fact_name', 'fact_key']) }} as incident_fact_key,
        incident_key,
        fact_name,
        fact_key,
        event_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        topic_key,
        partition_key,
        group_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        happened_at
    from named
)

select * from final
