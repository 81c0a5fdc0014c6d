with incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

minutes as (
    select * from {{ ref('int_nodes__minutes') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

seen as (
    select
        cluster_id,
        cluster_incarnation,
        min(first_seen_at) as first_seen_at,
        max(last_record.logged_at) as last_seen_at,
        sort_array(collect_set(node_id) filter (where node_id >= 0)) as nodes
    from minutes
    group by cluster_id, cluster_incarnation
),

reported as (
    select
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        max_by(
            lifecycle_events.kafka_cluster_id,
            struct(
                lifecycle_events.logged_at,
                lifecycle_events.source_path,
                lifecycle_events.byte_offset
            )
        )
        filter (where lifecycle_events.kafka_cluster_id is not null) as kafka_cluster_id,
        case
            when
                count_if(
                    {{ has_role('kraft_cluster_sign', 'lifecycle_events.event_type') }}
                )
                > 0
                then 'kraft'
            when
                count_if(lifecycle_events.zookeeper_connect is not null) > 0
                or count_if(
                    {{ has_role('zookeeper_cluster_sign', 'lifecycle_events.event_type') }}
                )
                > 0
                then 'zookeeper'
        end as cluster_mode,
        max_by(
            lifecycle_events.kafka_version,
            struct(
                lifecycle_events.logged_at,
                lifecycle_events.source_path,
                lifecycle_events.byte_offset
            )
        )
        filter (where lifecycle_events.kafka_version is not null) as kafka_version
    from incarnations
    inner join lifecycle_events
        on
            incarnations.cluster_id = lifecycle_events.cluster_id
            and incarnations.valid_from <= lifecycle_events.logged_at
            and incarnations.valid_to > lifecycle_events.logged_at
    group by incarnations.cluster_id, incarnations.cluster_incarnation
),

-- Half-open: the beginning of the first incarnation and the end of the last are not known.
final as (
    select
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        reported.kafka_cluster_id,
        reported.cluster_mode,
        reported.kafka_version,
        nullif(incarnations.valid_from, timestamp '1970-01-01 00:00:00') as valid_from,
        nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00') as valid_to,
        seen.first_seen_at,
        seen.last_seen_at,
        coalesce(seen.nodes, array()) as nodes
    from incarnations
    left join seen using (cluster_id, cluster_incarnation)
    left join reported using (cluster_id, cluster_incarnation)
)

select * from final
