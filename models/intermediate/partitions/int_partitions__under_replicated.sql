with states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

replica_removals as (
    select * from {{ ref('stg_logs__replica_removals') }}
),

described as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        captured_at,
        captured_known_by,
        sort_array(isr) as isr_members,
        replicas,
        node_id,
        source_path,
        byte_offset
    from {{ ref('int_partitions__described') }}
    where isr is not null and size(replicas) > 0
),

described_and_logged as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        captured_at as reported_at,
        true as is_described,
        captured_known_by = 'modified' as is_dated_by_file,
        isr_members,
        replicas,
        cast(null as int) as partition_epoch,
        cast(null as array<int>) as stated_before,
        node_id,
        source_path,
        byte_offset
    from described
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        changed_at as reported_at,
        false as is_described,
        false as is_dated_by_file,
        isr_members,
        cast(null as array<int>) as replicas,
        partition_epoch,
        stated_before,
        cast(null as int) as node_id,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset
    from states
    left semi join described
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation)
),

compared as (
    select
        *,
        last_value(
            if(is_described, null, struct(reported_at, isr_members, partition_epoch)), true
        ) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, is_described, partition_epoch, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as held,
        lead(
            if(is_described, null, struct(reported_at, partition_epoch, stated_before))
        ) ignore nulls over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, is_described, partition_epoch, source_path, byte_offset
        ) as next_held
    from described_and_logged
),

-- What a describe adds to the logs: a set that differs from theirs, at a time of which they do not tell. They tell of the time about
-- each change, and of all the time from one change to the next if that one states the set before, or has the next version.
told as (
    select *
    from compared
    where
        is_described
        and not coalesce(held.reported_at > reported_at - interval 10 seconds, false)
        and not coalesce(next_held.reported_at < reported_at + interval 10 seconds, false)
        and not coalesce(held.isr_members = next_held.stated_before, false)
        and not coalesce(held.partition_epoch + 1 = next_held.partition_epoch, false)
),

told_in_order as (
    select
        *,
        lag(struct(reported_at, isr_members)) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, source_path, byte_offset
        ) as last_told
    from told
),

-- A describe that repeats the one before, or the logs since, adds nothing.
told_anew as (
    select *
    from told_in_order
    where
        not coalesce(
            isr_members = if(
                last_told is null or held.reported_at > last_told.reported_at,
                held.isr_members,
                last_told.isr_members
            ),
            false
        )
),

-- In-sync sets and replica sets on one timeline; at the same moment replica sets come first.
reported as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        changed_at as reported_at,
        state_number,
        isr_members,
        stated_before,
        is_one_missing or is_told_late as is_one_missing,
        false as is_described,
        false as is_dated_by_file,
        cast(null as array<int>) as replicas,
        evidence,
        evidence_count
    from states
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at,
        0 as state_number,
        isr_members,
        cast(null as array<int>) as stated_before,
        false as is_one_missing,
        true as is_described,
        is_dated_by_file,
        replicas,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence,
        1 as evidence_count
    from told_anew
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at,
        0 as state_number,
        cast(null as array<int>) as isr_members,
        cast(null as array<int>) as stated_before,
        false as is_one_missing,
        false as is_described,
        false as is_dated_by_file,
        replicas,
        evidence,
        1 as evidence_count
    from replicas
),

-- The first list of replicas also holds before it; without any list, all replicas that were ever in
-- sync count.
carried as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at,
        row_number() over (life) as state_rank,
        last_value(isr_members, true) over (so_far) as isr_members,
        coalesce(last_value(replicas, true) over (so_far), first_value(replicas, true) over (whole))
            as replicas,
        sort_array(
            array_union(
                flatten(collect_set(isr_members) over (whole)),
                flatten(collect_set(stated_before) over (whole))
            )
        ) as members_ever,
        stated_before,
        is_one_missing,
        is_described,
        is_dated_by_file,
        evidence,
        evidence_count
    from reported
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, state_number, array_join(replicas, ',')
        ),
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, state_number, array_join(replicas, ',')
            rows between unbounded preceding and current row
        ),
        whole as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, state_number, array_join(replicas, ',')
            rows between unbounded preceding and unbounded following
        )
),

-- One row per state of a partition: its replicas, and which of them are in sync.
replication as (
    select
        *,
        replicas is not null as are_replicas_known,
        lag(reported_at) over (life) is null as is_first,
        array_except(coalesce(replicas, members_ever), isr_members) as out_of_sync,
        lead(reported_at) over (life) as next_reported_at,
        lead(is_one_missing, 1, false) over (life) as is_next_missing,
        lead(is_described, 1, false) over (life) as is_next_described,
        lead(replicas) over (life) as next_replicas,
        lead(evidence) over (life) as next_evidence,
        lead(evidence_count) over (life) as next_evidence_count
    from carried
    where isr_members is not null
    window life as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
        order by state_rank
    )
),

lagging as (
    select
        *,
        explode(out_of_sync) as replica_id
    from replication
),

-- Consecutive states with the same replica out of sync are one stretch.
numbered as (
    select
        *,
        state_rank - row_number() over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                replica_id
            order by state_rank
        ) as stretch
    from lagging
),

stretches as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        replica_id,
        stretch,
        min(state_rank) as first_state_number,
        min(reported_at) as started_at,
        min_by(
            is_first and not coalesce(array_contains(stated_before, replica_id), false), state_rank
        )
            as is_start_unknown,
        min_by(is_described, state_rank) as is_told,
        min_by(is_dated_by_file, state_rank) as is_dated_by_file,
        max_by(is_next_described, state_rank) as is_end_described,
        max_by(next_reported_at, state_rank) as ended_at,
        not coalesce(array_contains(max_by(next_replicas, state_rank), replica_id), true)
            as is_unlisted,
        max_by(
            struct(next_evidence as evidence, coalesce(next_evidence_count, 0) as evidence_count),
            state_rank
        ) as closing,
        min_by(struct(evidence, evidence_count), state_rank) as opening,
        bool_and(are_replicas_known) as are_replicas_known,
        bool_or(is_one_missing or is_next_missing) as is_change_missing
    from numbered
    group by all
),

deletions as (
    select
        cluster_id,
        topic_name,
        collect_set(struct(logged_at, partition_id)) as deletions
    from topic_events
    where
        {{ has_role('topic_deletion') }} or state_after in ('NonExistentPartition', 'NotExists')
    group by cluster_id, topic_name
),

-- A broker deletes its log once it is no longer in the set of replicas.
removed as (
    select
        stretches.*,
        min(
            struct(
                replica_removals.logged_at,
                replica_removals.node_id,
                replica_removals.source_path,
                replica_removals.byte_offset
            )
        ) filter (where replica_removals.logged_at is not null) as removal
    from stretches
    left join replica_removals
        on
            stretches.cluster_id = replica_removals.cluster_id
            and stretches.topic_name = replica_removals.topic_name
            and stretches.partition_id = replica_removals.partition_id
            and stretches.replica_id = replica_removals.node_id
            -- The broker may hear of it before the leader logs the new state.
            and stretches.started_at <= replica_removals.logged_at + interval 2 seconds
            and coalesce(stretches.ended_at > replica_removals.logged_at, true)
    group by all
),

ended as (
    select
        removed.* except (stretch, ended_at, is_unlisted, opening, closing, removal),
        case
            when removed.ended_at is null
                then array_min(
                    filter(
                        deletions.deletions,
                        deletion -> deletion.logged_at >= started_at - interval 1 minute
                        and coalesce(deletion.partition_id, partition_id) = partition_id
                    )
                ).logged_at
        end as deleted_at,
        coalesce(removed.removal.logged_at, removed.ended_at) as back_at,
        coalesce(
            removed.removal.logged_at, if(removed.is_unlisted, removed.ended_at, null)
        ) as removed_at,
        slice(
            concat(
                removed.opening.evidence,
                if(
                    removed.removal is null,
                    coalesce(removed.closing.evidence, array()),
                    array(
                        struct(
                            removed.removal.node_id,
                            removed.removal.source_path,
                            removed.removal.byte_offset
                        )
                    )
                )
            ),
            1,
            10
        ) as evidence,
        removed.opening.evidence_count
        + if(removed.removal is null, removed.closing.evidence_count, 1) as evidence_count
    from removed
    left join deletions using (cluster_id, topic_name)
),

-- Replicas that stop because their topic is being deleted are not an outage. A replica that is moved away leaves both
-- sets at once, which the records say one after the other.
final as (
    select
        * except (deleted_at, back_at, removed_at),
        coalesce(back_at, deleted_at) as ended_at
    from ended
    where
        (deleted_at is null or deleted_at > started_at + interval 1 minute)
        and (removed_at is null or removed_at > started_at + interval 10 seconds)
)

select * from final
