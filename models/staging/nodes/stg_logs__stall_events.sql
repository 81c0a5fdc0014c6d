with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ process_name(of_record=true) }} as process_name,
        lower({{ field('session_id') }}) as session_id,
        {{ field('target_node', 'int') }} as peer_node_id,
        case
            when {{ has_role('zookeeper_pause') }} then {{ field('duration_ms', 'bigint') }}
            when {{ has_role('controller_event_delay') }} then {{ field('event_ms', 'bigint') }}
            when {{ has_role('controller_event_failure') }}
                then {{ field('duration_us', 'bigint') }} div 1000
            else {{ field('elapsed_ms', 'bigint') }}
        end as waited_ms,
        coalesce(
            {{ field('request_timeout_ms', 'bigint') }}, {{ field('fetch_timeout_ms', 'bigint') }}
        ) as allowed_ms
    from events
    where
        {{ has_role([
            'session_timeout',
            'session_expiry',
            'socket_closure',
            'request_cancellation',
            'controller_event_delay',
            'controller_event_failure',
            'quorum_fetch_timeout',
            'quorum_majority_loss',
            'zookeeper_pause',
        ]) }}
        -- The durations of requests to a controller include the wait for the quorum to store what they
        -- write, and they fail when it resigns (QuorumController.ControllerWriteEvent): a
        -- controller without a majority is not one that stands still. What it does for the
        -- quorum (handleCommit, handleLoadSnapshot, handleLeaderChange) waits for nobody, and nothing waits for the quorum for
        -- a minute: without a majority the controller resigns much earlier (1.5 times controller.quorum.fetch.timeout.ms).
        and (
            not {{ has_role(['controller_event_delay', 'controller_event_failure']) }}
            or coalesce(startswith({{ field('controller_event') }}, 'handle'), false)
            or coalesce(
                {{ field('event_ms', 'bigint') }}, {{ field('duration_us', 'bigint') }} div 1000
            )
            >= 60000
        )
)

select * from final
