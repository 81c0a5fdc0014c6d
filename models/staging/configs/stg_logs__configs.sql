with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        coalesce({{ field('config_class') }}, 'KafkaConfig') as config_class,
        -- Settings without a value are left out.
        map_filter(fields, (name, value) -> {{ given('value') }} is not null) as settings
    from events
    where {{ has_role(['node_config', 'client_config']) }}
)

select * from final
