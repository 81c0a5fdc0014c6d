with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('broker', 'int') }} as broker_id,
        {{ field('broker_epoch', 'bigint') }} as broker_epoch,
        coalesce({{ field('fenced') }} = '1', false) or event_type = 'broker_fenced_record'
            as is_fencing,
        coalesce({{ field('fenced') }} = '-1', false) or event_type = 'broker_unfenced_record'
            as is_unfencing,
        coalesce({{ field('in_controlled_shutdown') }} = '1', false) as is_leaving
    from events
    where
        event_type in (
            'broker_fenced',
            'broker_fenced_record',
            'broker_unfenced_record',
            'broker_registration_changed',
            'broker_unfencing_granted',
            'broker_registered_with_controller',
            'broker_shutdown_asked',
            'broker_shutdown_granted',
            'broker_controlled_shutdown_started',
            'broker_controlled_shutdown_granted'
        )
)

select * from final
