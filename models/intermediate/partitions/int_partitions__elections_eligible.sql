with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

causes as (
    select *
    from {{ ref('stg_logs__election_causes') }}
    where event_type = 'eligible_leader_elected'
),

-- The controller says it before the new leader, which may still be starting.
final as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch,
        count(*) > 0 as is_eligible_told
    from epochs
    inner join causes
        on
            epochs.cluster_id = causes.cluster_id
            and epochs.topic_id = causes.topic_id
            and epochs.partition_id = causes.partition_id
            and epochs.leader_id = causes.leader_id
            and causes.logged_at >= epochs.elected_at - interval 10 seconds
            and causes.logged_at <= epochs.elected_at + interval 2 seconds
    group by all
)

select * from final
