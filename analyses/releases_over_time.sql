select
    cast(date_trunc('month', days.event_date) as date) as month_start_date,
    releases.kafka_version,
    count(distinct days.cluster_id) as clusters
from {{ ref('rpt_cluster_daily') }} as days
left join {{ ref('dim_cluster_releases') }} as releases
    on
        days.cluster_id = releases.cluster_id
        and releases.valid_from < cast(days.event_date as timestamp) + interval '1 day'
        and (
            releases.valid_to is null
            or releases.valid_to > cast(days.event_date as timestamp)
        )
where
    days.evidence_state = 'known'
    and {{ question_filter(
        cluster='days.cluster_id', start='cast(days.event_date as timestamp)'
    ) }}
group by cast(date_trunc('month', days.event_date) as date), releases.kafka_version
order by month_start_date, releases.kafka_version nulls first
