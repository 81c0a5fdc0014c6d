with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        -- A KRaft node says it for each of its roles, a broker once.
        case
            when
                event_type in (
                    'node_starting',
                    'broker_starting',
                    'controller_starting',
                    'shared_server_starting'
                )
                then 'starting'
            -- The first word of a KRaft broker, before the server says that it starts.
            when event_type = 'broker_role_changed' and {{ field('state_after') }} = 'STARTING'
                then 'starting'
            when event_type in ('node_started', 'broker_started') then 'started'
            when
                event_type in (
                    'node_stopping',
                    'broker_stopping',
                    'controller_stopping',
                    'termination_signal_received'
                )
                then 'stopping'
            when
                event_type = 'broker_role_changed' and {{ field('state_after') }} = 'SHUTTING_DOWN'
                then 'stopping'
            when event_type in ('node_stopped', 'broker_stopped') then 'stopped'
            when
                event_type in (
                    'node_start_failed', 'fatal_fault_encountered', 'node_stopped_for_disk'
                )
                then 'failed'
        end as lifecycle_step,
        {{ field('kafka_version') }} as kafka_version,
        {{ field('kafka_cluster_id') }} as kafka_cluster_id,
        {{ field('process.roles') }} as process_roles,
        {{ field('zookeeper.connect') }} as zookeeper_connect
    from events
    where
        event_type in (
            'node_starting',
            'broker_starting',
            'controller_starting',
            'shared_server_starting',
            'node_started',
            'broker_started',
            'node_stopping',
            'broker_stopping',
            'controller_stopping',
            'broker_role_changed',
            'termination_signal_received',
            'property_overridden',
            'node_stopped',
            'broker_stopped',
            'node_start_failed',
            'fatal_fault_encountered',
            'node_stopped_for_disk',
            'broker_incarnation_started',
            'controller_created',
            'client_cluster_id_observed',
            'kafka_cluster_id_logged',
            'kafka_config_logged',
            'kafka_version_logged',
            -- These tell whether there is ZooKeeper or a quorum.
            'quorum_state_changed',
            'controller_activated',
            'controller_elected',
            'session_established'
        )
        and node_id is not null
)

select * from final
