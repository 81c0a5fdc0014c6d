with daily as (
    select
        cluster_id,
        day_date,
        sum(bytes_at_end) as bytes_at_end
    from {{ ref('rpt_offsets_topic_daily') }}
    where {{ question_filter(start='cast(day_date as timestamp)') }}
    group by cluster_id, day_date
),

numbered as (
    select
        *,
        row_number() over (partition by cluster_id order by day_date) as day_number,
        row_number() over (partition by cluster_id order by day_date desc) as days_ago
    from daily
    where bytes_at_end is not null
)

select
    cluster_id,
    count(*) as days_known,
    max(bytes_at_end) filter (where days_ago = 1) as bytes_at_end,
    cast(regr_slope(cast(bytes_at_end as double), cast(day_number as double)) as bigint)
        as bytes_per_day,
    max(bytes_at_end) filter (where days_ago = 1)
    + 30 * cast(regr_slope(cast(bytes_at_end as double), cast(day_number as double)) as bigint)
        as bytes_in_30_days
from numbered
group by cluster_id
order by cluster_id
