with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('feature') }} as feature_name,
        {{ field('feature_level') }} as feature_level
    from events
    where {{ has_role('feature_level') }} and fields['feature'] is not null
)

select * from final
