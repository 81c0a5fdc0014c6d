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
            over (
                partition by
                    cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
                order by leader_epoch
                rows between unbounded preceding and current row
            ) as window_number
    from epochs
),

windows as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        min(leader_epoch) as first_epoch,
        min(elected_at) as started_at,
        max_by(held_until, leader_epoch) as ended_at,
        min_by(isr, leader_epoch) as isr,
        min_by(previous_leader_id, leader_epoch) as last_leader_id,
        slice(flatten(collect_list(evidence)), 1, 10) as evidence,
        sum(evidence_count) as evidence_count,
        min_by(previous_leader_epoch, leader_epoch) = min(leader_epoch) - 1 as is_start_known,
        coalesce(min_by(best_rank, leader_epoch) = 6, false) as is_derived
    from marked
    where leader_id = -1
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, window_number
),

-- A topic that is being deleted loses its leaders too; that is not an outage.
deletions as (
    select distinct
        windows.cluster_id,
        windows.cluster_incarnation,
        windows.topic_name,
        windows.partition_id,
        windows.topic_incarnation,
        windows.first_epoch
    from windows
    inner join topic_events
        on
            windows.cluster_id = topic_events.cluster_id
            and windows.topic_name = topic_events.topic_name
            and (
                topic_events.partition_id is null
                or windows.partition_id = topic_events.partition_id
            )
            and topic_events.logged_at >= windows.started_at - interval 1 minute
            and topic_events.logged_at <= windows.started_at + interval 1 minute
            and (
                {{ has_role('topic_deletion', 'topic_events.event_type') }}
                or topic_events.state_after in ('NonExistentPartition', 'NotExists')
            )
    where windows.ended_at is null
),

final as (
    select windows.*
    from windows
    left anti join deletions
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            first_epoch
        )
)

select * from final
