with hours as (
    select explode(sequence(0, 23)) as hour_of_day
),

final as (
    select
        hour_of_day,
        concat(lpad(cast(hour_of_day as string), 2, '0'), ':00') as hour_name
    from hours
)

select * from final
