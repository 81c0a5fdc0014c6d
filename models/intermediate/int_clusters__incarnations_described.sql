with incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

node_events as (
    select * from {{ ref('stg_logs__node_events') }}
),

-- Half-open: the beginning of the first incarnation and the end of the last are not known.
final as (
    select
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        max_by(node_events.kafka_cluster_id, node_events.logged_at)
        filter (where node_events.kafka_cluster_id is not null) as kafka_cluster_id,
        case
            when
                count_if(node_events.event_type in ('quorum_state_changed', 'controller_activated'))
                > 0
                then 'kraft'
            when
                count_if(node_events.zookeeper_connect is not null) > 0
                or count_if(node_events.event_type in ('controller_elected', 'session_established'))
                > 0
                then 'zookeeper'
        end as cluster_mode,
        max_by(node_events.kafka_version, node_events.logged_at)
        filter (where node_events.kafka_version is not null) as kafka_version,
        nullif(incarnations.valid_from, timestamp '1970-01-01 00:00:00') as valid_from,
        nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00') as valid_to,
        min(node_events.logged_at) as first_seen_at,
        max(node_events.logged_at) as last_seen_at,
        array_sort(collect_set(node_events.node_id)) as nodes
    from incarnations
    left join node_events
        on
            incarnations.cluster_id = node_events.cluster_id
            and incarnations.valid_from <= node_events.logged_at
            and incarnations.valid_to > node_events.logged_at
    group by
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        incarnations.valid_from,
        incarnations.valid_to
)

select * from final
