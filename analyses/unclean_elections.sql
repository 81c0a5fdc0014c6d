select
    cluster_id,
    topic_name,
    partition_id,
    leader_epoch,
    previous_leader_id,
    leader_id,
    isr,
    elected_at,
    held_until,
    start_offset,
    leader_election_key
from {{ ref('fct_leader_elections') }}
where
    is_unclean
    and {{ question_filter(topic='topic_name', partition='partition_id', start='elected_at') }}
order by elected_at, leader_election_key
