with ranked as (
    select
        kafka_version_after as kafka_version,
        downtime_ms,
        cume_dist() over (partition by kafka_version_after order by downtime_ms) as share
    from {{ ref('fct_node_restarts') }}
    where
        downtime_ms is not null
        and {{ question_filter(node='node_id', start='stopped_at', end='ready_at') }}
)

select
    kafka_version,
    count(*) as restarts,
    cast(avg(downtime_ms) as bigint) as mean_ms,
    min(downtime_ms) filter (where share >= 0.95) as p95_ms,
    max(downtime_ms) as longest_ms
from ranked
group by kafka_version
order by kafka_version nulls first
