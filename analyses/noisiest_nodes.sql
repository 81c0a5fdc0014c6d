select
    cluster_id,
    node_id,
    sum(leaderships_lost_to_failure) as leaderships_lost,
    sum(isr_left) as replicas_fell_out,
    sum(unclean_shutdowns) as unclean_stops,
    sum(without_session_ms) as without_session_ms,
    sum(stall_ms) as stall_ms,
    sum(under_replicated_ms) as out_of_sync_ms
from {{ ref('rpt_node_daily') }}
where {{ question_filter(node='node_id', start='cast(event_date as timestamp)') }}
group by cluster_id, node_id
order by
    leaderships_lost desc nulls last,
    replicas_fell_out desc nulls last,
    cluster_id asc,
    node_id asc
