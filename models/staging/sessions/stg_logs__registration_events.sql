with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('broker', 'int') }} as broker_id,
        {{ field('broker_epoch', 'bigint') }} as broker_epoch,
        coalesce({{ field('fenced') }} = '1', false) or {{ has_role('fencing_record') }}
            as is_fencing,
        coalesce({{ field('fenced') }} = '-1', false) or {{ has_role('unfencing_record') }}
            as is_unfencing,
        coalesce({{ field('in_controlled_shutdown') }} = '1', false) as is_leaving
    from events
    where
        {{ has_role([
            'registration_record',
            'registration_grant',
            'fencing_claim',
            'unfencing_grant',
            'fencing_grant',
        ]) }}
)

select * from final
