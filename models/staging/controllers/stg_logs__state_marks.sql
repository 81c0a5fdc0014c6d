with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        case
            when {{ has_role('controller_epoch_creation') }} then 'controller_epoch'
            when {{ has_role('zookeeper_transaction') }} then 'zookeeper_transaction'
            else 'metadata_offset'
        end as mark_kind,
        -- A broker prints its own number beside its registration.
        coalesce(node_id, {{ field('broker', 'int') }}) as writer_id,
        coalesce(
            {{ field('controller_epoch', 'bigint') }},
            {{ field('broker_epoch', 'bigint') }},
            {{ field('znode_epoch', 'bigint') }}
        ) as mark
    from events
    where
        {{ has_role([
            'controller_epoch_creation',
            'zookeeper_transaction',
            'registration_grant',
        ]) }}
        and (
            fields['controller_epoch'] is not null
            or fields['broker_epoch'] is not null
            or fields['znode_epoch'] is not null
        )
)

select * from final
