select
    dates.month_start_date,
    releases.kafka_version,
    count(distinct releases.cluster_id) as clusters
from {{ ref('dim_cluster_releases') }} as releases
inner join {{ ref('dim_dates') }} as dates
    on
        cast(releases.valid_from as date) <= dates.date_day
        and (releases.valid_to is null or releases.valid_to > dates.date_day)
where
    dates.date_day <= cast(now() as date)
    and {{ question_filter(
        cluster='releases.cluster_id', start='cast(dates.date_day as timestamp)'
    ) }}
group by dates.month_start_date, releases.kafka_version
order by dates.month_start_date, releases.kafka_version
