with events as (
    select * from {{ ref('int_dates__bounds') }}
),

days as (
    select
        explode(sequence(cast(first_date as date), cast(last_date as date), interval 1 day))
            as date_day
    from events
),

final as (
    select
        date_day,
        cast(date_format(date_day, 'yyyyMMdd') as int) as date_key,
        year(date_day) as year_number,
        cast(quarter(date_day) as int) as quarter_number,
        month(date_day) as month_number,
        date_format(date_day, 'MMMM') as month_name,
        day(date_day) as day_of_month,
        weekday(date_day) + 1 as iso_day_of_week,
        weekofyear(date_day) as iso_week_number,
        cast(extract(yearofweek from date_day) as int) as iso_week_year,
        cast(date_trunc('week', date_day) as date) as week_start_date,
        cast(date_trunc('month', date_day) as date) as month_start_date,
        cast(date_trunc('quarter', date_day) as date) as quarter_start_date,
        weekday(date_day) >= 5 as is_weekend
    from days
)

select * from final
