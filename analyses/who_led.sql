with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

endings as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        ended_at
    from {{ ref('dim_partitions') }}
),

-- Nobody leads a partition that was deleted, or that exists again in another life.
led as (
    select
        elections.* except (held_until),
        least(elections.held_until, endings.ended_at) as held_until
    from elections
    left join endings
        using (cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id)
)

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
from led
where {{ question_filter(
    topic='topic_name',
    partition='partition_id',
    start='elected_at',
    end='held_until'
) }}
order by cluster_id, cluster_incarnation, elected_at, leader_epoch, leader_election_key
