with incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

cluster_names as (
    select * from {{ ref('stg_captures__cluster_names') }}
),

-- A describe names the cluster, too: it counts where no record does.
captured as (
    select
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        max_by(
            cluster_names.kafka_cluster_id,
            struct(
                cluster_names.captured_at,
                cluster_names.source_path,
                cluster_names.byte_offset
            )
        ) as kafka_cluster_id
    from incarnations
    inner join cluster_names
        on
            incarnations.cluster_id = cluster_names.cluster_id
            and incarnations.valid_from <= cluster_names.captured_at
            and incarnations.valid_to > cluster_names.captured_at
    group by incarnations.cluster_id, incarnations.cluster_incarnation
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
        coalesce(reported.kafka_cluster_id, captured.kafka_cluster_id) as kafka_cluster_id,
        -- Only a cluster of KRaft has a quorum to describe.
        case
            when reported.cluster_mode is not null then reported.cluster_mode
            when captured.kafka_cluster_id is not null then 'kraft'
        end as cluster_mode,
        reported.kafka_version,
        nullif(incarnations.valid_from, timestamp '1970-01-01 00:00:00') as valid_from,
        nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00') as valid_to,
        observed.first_seen_at,
        observed.last_seen_at,
        coalesce(observed.nodes, array()) as nodes
    from incarnations
    left join observed using (cluster_id, cluster_incarnation)
    left join reported using (cluster_id, cluster_incarnation)
    left join captured using (cluster_id, cluster_incarnation)
)

select * from final
