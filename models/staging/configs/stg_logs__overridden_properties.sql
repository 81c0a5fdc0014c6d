with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        {{ field('setting') }} as setting,
        {{ given(field('setting_value')) }} as setting_value
    from events
    where {{ has_role('config_override') }}
)

select * from final
