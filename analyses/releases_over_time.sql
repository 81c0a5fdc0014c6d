select
    cast(date_trunc('month', event_date) as date) as month_start_date,
    kafka_version,
    count(distinct cluster_id) as clusters
from {{ ref('rpt_cluster_daily') }}
where
    evidence_state = 'known'
    and {{ question_filter(start='cast(event_date as timestamp)') }}
group by cast(date_trunc('month', event_date) as date), kafka_version
order by month_start_date, kafka_version
