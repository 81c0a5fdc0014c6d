with numbered as (
    select
        date_day,
        row_number() over (order by date_day) as day_number
    from {{ ref('dim_dates') }}
),

silent as (
    select
        days.cluster_id,
        days.node_id,
        days.event_date,
        numbered.day_number - row_number() over (
            partition by days.cluster_id, days.node_id order by days.event_date
        ) as stretch
    from {{ ref('rpt_node_daily') }} as days
    inner join numbered
        on days.event_date = numbered.date_day
    where
        days.evidence_state = 'unknown'
        and {{ question_filter(
            cluster='days.cluster_id',
            node='days.node_id',
            start='cast(days.event_date as timestamp)'
        ) }}
)

select
    cluster_id,
    node_id,
    min(event_date) as unknown_from,
    max(event_date) as unknown_to,
    count(*) as days
from silent
group by cluster_id, node_id, stretch
order by days desc, cluster_id asc, node_id asc, unknown_from asc
