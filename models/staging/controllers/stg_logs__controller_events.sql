with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce({{ field('controller', 'int') }}, node_id) as controller_id,
        {{ field('controller_epoch', 'int') }} as controller_epoch
    from events
    where
        event_type in (
            'controller_elected',
            'controller_epoch_incremented',
            'controller_ready',
            'controller_resigning',
            'controller_resigned',
            'controller_moved',
            'controller_session_expired'
        )
)

select * from final
