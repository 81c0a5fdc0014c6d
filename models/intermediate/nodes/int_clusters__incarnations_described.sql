with incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
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
        observed.first_seen_at,
        observed.last_seen_at,
        coalesce(observed.nodes, array()) as nodes
    from incarnations
    left join observed using (cluster_id, cluster_incarnation)
    left join reported using (cluster_id, cluster_incarnation)
)

select * from final
