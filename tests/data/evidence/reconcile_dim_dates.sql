-- Every day from 2010 to 2050 that has a record is in the calendar.
with source_rows as (
    select * from {{ ref('stg_logs__records') }}
),

mart_rows as (
    select * from {{ ref('dim_dates') }}
),

final as (
    select source_rows.event_date
    from source_rows
    left join mart_rows on source_rows.event_date = mart_rows.date_day
    where
        mart_rows.date_day is null
        and source_rows.event_date between date '2010-01-01' and date '2050-12-31'
    group by source_rows.event_date
)

select * from final
