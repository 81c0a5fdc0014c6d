with coverage as (
    select * from {{ ref('int_logs__coverage') }}
),

-- Whole years, so that joins of BI tools find every day. Records dated before 2010 or after 2050 do
-- not extend the calendar.
final as (
    select
        date_trunc('year', greatest(min(event_date), date '2010-01-01')) as first_date,
        last_day(add_months(date_trunc('year', least(max(event_date), date '2050-12-31')), 11))
            as last_date
    from coverage
    having min(event_date) is not null
)

select * from final
