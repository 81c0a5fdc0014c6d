with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

described as (
    select * from {{ ref('int_partitions__described') }}
    where leader_id is not null
),

elections_failed as (
    select * from {{ ref('stg_logs__elections_failed') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- Leaderless epochs that follow each other are one window.
marked as (
    select
        *,
        sum(case when leader_id = -1 and coalesce(previous_leader_id, 0) <> -1 then 1 else 0 end)
            over (so_far) as window_number,
        last_value(topic_id, true) over (so_far) as known_topic_id,
        lead(evidence) over (in_order) as next_evidence
    from epochs
    window
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
            rows between unbounded preceding and current row
        ),
        in_order as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
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
        max(elected_at) as last_elected_at,
        max_by(held_until, leader_epoch) as ended_at,
        max_by(next_evidence, leader_epoch) as end_evidence,
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
deleted as (
    select
        windows.*,
        min(topic_events.logged_at) as deleted_at
    from windows
    left join topic_events
        on
            windows.ended_at is null
            and windows.cluster_id = topic_events.cluster_id
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
    group by all
),

-- A topic that is being deleted loses its leaders too; that is not an outage.
outages as (
    select
        * except (topic_id, ended_at, deleted_at),
        coalesce(ended_at, deleted_at) as ended_at
    from deleted
    where deleted_at is null or deleted_at > started_at + interval 1 minute
),

-- An outage whose end no record tells was over when a describe names a leader.
seen_led as (
    select
        outages.*,
        min(
            struct(
                described.captured_at,
                described.node_id,
                described.source_path,
                described.byte_offset
            )
        ) filter (where described.captured_at is not null) as line
    from outages
    left join described
        on
            outages.ended_at is null
            and outages.cluster_id = described.cluster_id
            and outages.cluster_incarnation = described.cluster_incarnation
            and outages.topic_name = described.topic_name
            and outages.partition_id = described.partition_id
            and outages.topic_incarnation = described.topic_incarnation
            and described.leader_id >= 0
            -- The times of a describe and of a log are of two clocks.
            and outages.last_elected_at + interval 10 seconds < described.captured_at
    group by all
),

failures as (
    {{ placed('elections_failed') }}
),

-- What tells without an epoch that a partition has no leader, or has one again.
told as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        captured_at as told_at,
        leader_id,
        isr,
        node_id,
        source_path,
        byte_offset,
        true as is_described,
        captured_known_by = 'modified' as is_dated_by_file
    from described
    union all
    select
        failures.cluster_id,
        failures.cluster_incarnation,
        failures.topic_name,
        failures.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        failures.logged_at as told_at,
        -1 as leader_id,
        cast(null as array<int>) as isr,
        failures.node_id,
        failures.source_path,
        failures.byte_offset,
        false as is_described,
        false as is_dated_by_file
    from failures
    left join lives on {{ placed_in_life('failures') }}
),

reports as (
    select
        *,
        bool_or(leader_id = -1) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
        ) as is_ever_gone
    from told
),

reports_of_leaderless as (
    select *
    from reports
    where is_ever_gone
),

-- With the epochs of the same partitions, in order of time.
told_and_led as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        told_at as happened_at,
        cast(null as int) as leader_epoch,
        leader_id,
        isr,
        node_id,
        source_path,
        byte_offset,
        is_described,
        is_dated_by_file
    from reports_of_leaderless
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        elected_at as happened_at,
        leader_epoch,
        leader_id,
        isr,
        evidence[0].node_id as node_id,
        evidence[0].source_path as source_path,
        evidence[0].byte_offset as byte_offset,
        false as is_described,
        false as is_dated_by_file
    from epochs
    left semi join reports_of_leaderless
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation)
),

compared as (
    select
        *,
        last_value(
            if(leader_epoch is null, null, struct(happened_at, leader_epoch, leader_id)), true
        ) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by happened_at, leader_epoch nulls last, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as held,
        lead(if(leader_epoch is null, null, struct(happened_at, leader_epoch, leader_id)))
            ignore nulls over (
                partition by
                    cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
                order by happened_at, leader_epoch nulls last, source_path, byte_offset
            ) as next_held
    from told_and_led
),

-- A record counts if the epochs do not tell: they tell it if one without a leader holds, or begins at about that time, and
-- they deny it if one with a leader begins at about that time, or if the next epoch follows it (up to 0.8.2 a dead
-- broker stays leader).
untold as (
    select
        *,
        leader_epoch is null and leader_id = -1 as is_gone
    from compared
    where
        leader_epoch is not null
        or leader_id >= 0
        or not (
            coalesce(held.leader_id = -1, false)
            or coalesce(held.happened_at > happened_at - interval 10 seconds, false)
            or coalesce(
                next_held.leader_id = -1
                and next_held.happened_at < happened_at + interval 10 seconds,
                false
            )
            or coalesce(held.leader_epoch + 1 = next_held.leader_epoch, false)
        )
),

stretched as (
    select
        *,
        lead(
            struct(
                happened_at, leader_epoch, leader_id, node_id, source_path, byte_offset,
                is_described
            )
        ) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by happened_at, leader_epoch nulls last, source_path, byte_offset
        ) as following,
        count_if(not is_gone) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by happened_at, leader_epoch nulls last, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as stretch
    from untold
),

-- One row per stretch of such records. Where an epoch with a leader is known before, the controller has to fail for a minute: it
-- often fails once before it succeeds, and while everything is shut down.
told_windows as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        min(happened_at) as started_at,
        max_by(following, struct(happened_at, source_path, byte_offset)) as closing,
        min_by(isr, struct(happened_at, source_path, byte_offset)) filter (
            where is_described
        ) as isr,
        min_by(held.leader_id, struct(happened_at, source_path, byte_offset)) as last_leader_id,
        not min_by(is_described, struct(happened_at, source_path, byte_offset)) as is_logged,
        min_by(is_dated_by_file, struct(happened_at, source_path, byte_offset)) as is_dated_by_file,
        {{ evidence(at='happened_at') }} as evidence,
        count(*) as evidence_count
    from stretched
    where is_gone
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, stretch
    having
        bool_or(is_described)
        or bool_or(held is null)
        or max(happened_at) >= min(happened_at) + interval 1 minute
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        first_epoch,
        started_at,
        coalesce(ended_at, line.captured_at) as ended_at,
        isr,
        last_leader_id,
        'log' as known_by,
        slice(
            if(
                line is null,
                evidence,
                array_append(
                    slice(evidence, 1, 9),
                    named_struct(
                        'node_id', line.node_id,
                        'source_path', line.source_path,
                        'byte_offset', line.byte_offset
                    )
                )
            ),
            1,
            10
        ) as evidence,
        evidence_count + if(line is null, 0, 1) as evidence_count,
        if(
            line is null,
            end_evidence,
            array(struct(line.node_id, line.source_path, line.byte_offset))
        ) as end_evidence,
        is_start_known,
        is_derived,
        is_start_late,
        is_epoch_missing,
        is_end_late,
        is_isr_doubtful,
        false as is_told,
        line is not null as is_end_described,
        false as is_dated_by_file
    from seen_led
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        cast(null as int) as first_epoch,
        started_at,
        closing.happened_at as ended_at,
        isr,
        last_leader_id,
        if(is_logged, 'log', 'describe') as known_by,
        slice(
            if(
                closing is null,
                evidence,
                array_append(
                    slice(evidence, 1, 9),
                    named_struct(
                        'node_id', closing.node_id,
                        'source_path', closing.source_path,
                        'byte_offset', closing.byte_offset
                    )
                )
            ),
            1,
            10
        ) as evidence,
        evidence_count + if(closing is null, 0, 1) as evidence_count,
        if(
            closing is null,
            null,
            array(struct(closing.node_id, closing.source_path, closing.byte_offset))
        ) as end_evidence,
        true as is_start_known,
        false as is_derived,
        false as is_start_late,
        false as is_epoch_missing,
        false as is_end_late,
        false as is_isr_doubtful,
        true as is_told,
        coalesce(closing.is_described, false) as is_end_described,
        is_dated_by_file
    from told_windows
)

select * from final
