with registration_events as (
    select * from {{ ref('stg_logs__registration_events') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('registration_events') }}
    where
        registration_events.event_type in (
            'broker_shutdown_asked',
            'broker_shutdown_granted',
            'broker_controlled_shutdown_started',
            'broker_controlled_shutdown_granted'
        )
),

-- The broker itself says that it asks, again when it may stop; what it is not granted takes nothing.
answered as (
    select
        *,
        event_type = 'broker_controlled_shutdown_started'
        and coalesce(
            lead(event_type) over (
                partition by cluster_id, cluster_incarnation, node_id, event_type like 'broker_c%'
                order by logged_at, byte_offset
            ),
            ''
        ) <> 'broker_controlled_shutdown_granted' as is_in_vain
    from placed
),

-- In KRaft a broker loses its leaders when it is fenced, and in a controlled shutdown when it asks for it and when it may
-- go: those that nobody can take then have none.
final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        logged_at as taken_at,
        node_id,
        source_path,
        byte_offset
    from fencings
    union all
    select
        cluster_id,
        cluster_incarnation,
        coalesce(broker_id, node_id) as broker_id,
        logged_at as taken_at,
        node_id,
        source_path,
        byte_offset
    from answered
    where not is_in_vain
)

select * from final
