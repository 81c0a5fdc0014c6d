with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ process_name() }} as process_name,
        lower({{ field('session_id') }}) as session_id,
        case
            when event_type = 'zookeeper_pause_detected' then {{ field('duration_ms', 'bigint') }}
            when event_type = 'controller_event_slow' then {{ field('event_ms', 'bigint') }}
            when event_type = 'controller_event_failed'
                then {{ field('duration_us', 'bigint') }} div 1000
            else {{ field('elapsed_ms', 'bigint') }}
        end as waited_ms,
        coalesce(
            {{ field('request_timeout_ms', 'bigint') }}, {{ field('fetch_timeout_ms', 'bigint') }}
        ) as allowed_ms
    from events
    where
        event_type in (
            'session_timed_out',
            'session_expired',
            'session_socket_closed',
            'client_request_cancelled',
            'controller_event_slow',
            'controller_event_failed',
            'quorum_fetch_timed_out',
            'quorum_majority_lost',
            'zookeeper_pause_detected'
        )
)

select * from final
