with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        split(
            coalesce(
                {{ field('setting') }}, translate({{ field('settings_list') }}, '[]', '')
            ),
            ', '
        ) as settings,
        {{ given(field('setting_value')) }} as setting_value
    from events
    where {{ has_role('unknown_setting') }}
)

select * from final
