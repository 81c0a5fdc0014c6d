select
    cast(date_trunc('month', windows.started_at) as date) as month_start_date,
    windows.cluster_id,
    releases.kafka_version,
    count(*) as windows,
    count(*) filter (where windows.is_open) as still_open,
    cast(avg(windows.duration_ms) as bigint) as mean_ms,
    max(windows.duration_ms) as longest_ms
from {{ ref('fct_leaderless_windows') }} as windows
left join {{ ref('dim_cluster_releases') }} as releases
    on
        windows.cluster_key = releases.cluster_key
        and windows.started_at >= releases.valid_from
        and (releases.valid_to is null or windows.started_at < releases.valid_to)
where
    {{ question_filter(
        cluster='windows.cluster_id', topic='windows.topic_name', start='windows.started_at', end='windows.ended_at'
    ) }}
group by
    cast(date_trunc('month', windows.started_at) as date),
    windows.cluster_id,
    releases.kafka_version
order by month_start_date, windows.cluster_id, releases.kafka_version
