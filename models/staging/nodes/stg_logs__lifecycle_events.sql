with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        writer,
        -- A KRaft node logs it for each of its roles, a broker once.
        case
            when {{ has_role(['process_start', 'node_start']) }} then 'starting'
            -- The first line of a KRaft broker, before the server logs that it starts.
            when {{ has_role('broker_state') }} and {{ field('state_after') }} = 'STARTING'
                then 'starting'
            when {{ has_role('node_ready') }} then 'started'
            when {{ has_role('node_stop') }} then 'stopping'
            when
                {{ has_role('broker_state') }} and {{ field('state_after') }} = 'SHUTTING_DOWN'
                then 'stopping'
            when {{ has_role('node_stop_end') }} then 'stopped'
            when {{ has_role('node_failure') }} then 'failed'
        end as lifecycle_step,
        {{ field('kafka_version') }} as kafka_version,
        {{ field('kafka_cluster_id') }} as kafka_cluster_id,
        {{ given(field('process.roles')) }} as process_roles,
        coalesce(
            {{ given(field('zookeeper.connect')) }},
            case
                when {{ field('setting') }} = 'zookeeper.connect'
                    then {{ given(field('setting_value')) }}
            end
        ) as zookeeper_connect
    from events
    where
        {{ has_role([
            'process_start',
            'node_start',
            'node_ready',
            'node_stop',
            'node_stop_end',
            'node_failure',
            'broker_state',
            'config_override',
            'node_config',
            'kafka_version',
            'cluster_identity',
            'kraft_cluster_sign',
            'zookeeper_cluster_sign',
            'kraft_node_sign',
        ]) }}
        and writer_id is not null
)

select * from final
