select
    cluster_id,
    topic_name,
    count(distinct partition_key) as partitions_hit,
    sum(leaderless_ms) as leaderless_ms,
    sum(under_replicated_ms) as under_replicated_ms,
    sum(under_min_isr_ms) as under_min_isr_ms,
    sum(elections_leader_lost) as leaders_lost,
    sum(elections_unclean) as unclean_elections
from {{ ref('fct_partition_daily') }}
where {{ question_filter(topic='topic_name', start='cast(event_date as timestamp)') }}
group by cluster_id, topic_name
order by leaderless_ms desc, under_replicated_ms desc, cluster_id asc, topic_name asc
