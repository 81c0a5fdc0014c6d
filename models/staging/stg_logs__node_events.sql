with events as (
    select * from {{ ref('stg_logs__events') }}
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
            when event_type in ('node_started', 'broker_started') then 'started'
            when
                event_type in ('node_stopping', 'broker_stopping', 'controller_stopping')
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
        {{ field('zookeeper.connect') }} as zookeeper_connect,
        {{ field('signal') }} as signal
    from events
    where
        not is_copy
        and node_id is not null
)

select * from final
