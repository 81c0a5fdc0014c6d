select
    cluster_id,
    topic_name,
    partition_id,
    leader_epoch,
    leader_id,
    isr,
    elected_at,
    held_until,
    election_kind,
    controller_id,
    controller_epoch,
    leader_election_key
from {{ ref('fct_leader_elections') }}
where {{ question_filter(
    topic='topic_name',
    partition='partition_id',
    start='elected_at',
    end='held_until'
) }}
order by cluster_id, cluster_incarnation, elected_at, leader_epoch, leader_election_key
