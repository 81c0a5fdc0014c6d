-- The topics of a cluster and month add up to what rpt_reliability_monthly has.
with topics as (
    select
        cluster_id,
        month_start_date,
        sum(partition_observed_ms) as partition_observed_ms,
        sum(leaderless_ms) as leaderless_ms
    from {{ ref('rpt_topic_reliability_monthly') }}
    group by cluster_id, month_start_date
),

clusters as (
    select
        cluster_id,
        month_start_date,
        partition_observed_ms,
        leaderless_ms
    from {{ ref('rpt_reliability_monthly') }}
)

select
    clusters.*,
    topics.partition_observed_ms as partition_observed_ms_of_topics,
    topics.leaderless_ms as leaderless_ms_of_topics
from clusters
full outer join topics using (cluster_id, month_start_date)
where
    coalesce(clusters.partition_observed_ms, 0) <> coalesce(topics.partition_observed_ms, 0)
    or coalesce(clusters.leaderless_ms, 0) <> coalesce(topics.leaderless_ms, 0)
