with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

-- Leaderless epochs that follow each other are one window.
marked as (
    select
        *,
        sum(case when leader_id = -1 and coalesce(previous_leader_id, 0) <> -1 then 1 else 0 end)
            over (so_far) as window_number,
        last_value(topic_id, true) over (so_far) as known_topic_id
    from epochs
    window so_far as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
        order by leader_epoch
        rows between unbounded preceding and current row
    )
),

windows as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        min(leader_epoch) as first_epoch,
        max(known_topic_id) as topic_id,
        min(elected_at) as started_at,
        max_by(held_until, leader_epoch) as ended_at,
        min_by(isr, leader_epoch) as isr,
        min_by(
            if(previous_leader_epoch = leader_epoch - 1, previous_leader_id, null), leader_epoch
        ) as last_leader_id,
        slice(flatten(collect_list(evidence)), 1, 10) as evidence,
        sum(evidence_count) as evidence_count,
        min_by(previous_leader_epoch, leader_epoch) = min(leader_epoch) - 1 as is_start_known,
        coalesce(min_by(best_rank, leader_epoch) = 6, false) as is_derived,
        coalesce(min_by(best_rank, leader_epoch) = 7, false) as is_start_late,
        max_by(is_next_dated_late, leader_epoch) as is_end_late,
        min_by(is_isr_doubtful, leader_epoch) as is_isr_doubtful,
        -- A leader of a missing epoch would have ended it.
        coalesce(max_by(next_leader_epoch, leader_epoch) - 1, max(leader_epoch))
        - min(leader_epoch) + 1 > count(*) as is_epoch_missing
    from marked
    where leader_id = -1
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, window_number
),

-- Nothing is logged about a topic after its deletion, but controllers that start print it again, and another topic may have
-- the name by then.
deletions as (
    select
        windows.cluster_id,
        windows.cluster_incarnation,
        windows.topic_name,
        windows.partition_id,
        windows.topic_incarnation,
        windows.first_epoch,
        min(topic_events.logged_at) as deleted_at
    from windows
    inner join topic_events
        on
            windows.cluster_id = topic_events.cluster_id
            and windows.topic_name = topic_events.topic_name
            and (
                topic_events.partition_id is null
                or windows.partition_id = topic_events.partition_id
            )
            and coalesce(windows.topic_id = topic_events.topic_id, true)
            and topic_events.logged_at >= windows.started_at - interval 1 minute
            and (
                {{ has_role('topic_deletion', 'topic_events.event_type') }}
                or topic_events.state_after in ('NonExistentPartition', 'NotExists')
            )
    where windows.ended_at is null
    group by all
),

-- A topic that is being deleted loses its leaders too; that is not an outage.
final as (
    select
        windows.* except (topic_id, ended_at),
        coalesce(windows.ended_at, deletions.deleted_at) as ended_at
    from windows
    left join deletions
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            first_epoch
        )
    where
        deletions.deleted_at is null
        or deletions.deleted_at > windows.started_at + interval 1 minute
)

select * from final
