with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce({{ field('config_class') }}, 'KafkaConfig') as config_class,
        fields as settings
    from events
    where event_type in ('kafka_config_logged', 'client_config_logged')
)

select * from final
