with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce({{ field('config_class') }}, 'KafkaConfig') as config_class,
        fields as settings
    from events
    where {{ has_role(['node_config', 'client_config']) }}
)

select * from final
