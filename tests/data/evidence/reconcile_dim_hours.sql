-- The day has 24 hours, and each begins when it says.
with hours as (
    select * from {{ ref('dim_hours') }}
),

final as (
    select
        count(*) as hours,
        min(hour_of_day) as first_hour,
        max(hour_of_day) as last_hour,
        count_if(hour(to_timestamp(concat('2026-01-01 ', hour_name))) <> hour_of_day)
            as wrong_names
    from hours
)

select *
from final
where hours <> 24 or first_hour <> 0 or last_hour <> 23 or wrong_names > 0
