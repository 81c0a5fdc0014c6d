with event_types as (
    select * from {{ ref('event_types') }}
),

final as (
    select
        event_type,
        area,
        severity as health_signal,
        is_noise,
        means,
        cast(forms as int) as forms
    from event_types
)

select * from final
