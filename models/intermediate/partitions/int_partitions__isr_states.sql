{{ config(materialized='table', meta={'at': 'changed_at'}) }}

with statements as (
    select * from {{ ref('int_partitions__isr_statements') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

-- A version identifies a state. Without one, each leader's line is a state of its own, and the
-- controller writes one state per leader epoch: what it sends later in the same epoch may be an old
-- copy.
named as (
    select
        *,
        case
            when partition_epoch is not null then concat('version ', partition_epoch)
            when statement_kind in ('claimed', 'emptied') then concat('leader epoch ', leader_epoch)
            else concat_ws(' ', 'line', logged_at, node_id, array_join(isr, ','))
        end as state_name,
        sort_array(isr) as isr_members
    from statements
),

candidates as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        state_name,
        isr_members,
        partition_epoch,
        max(leader_epoch) as leader_epoch,
        max(case when partition_epoch is not null then coalesce(controller_epoch, -1) else -1 end)
            as version_controller_epoch,
        -- Only ZooKeeper's controllers have epochs of their own.
        max(controller_epoch) as order_epoch,
        max(if(statement_kind in ('claimed', 'emptied'), 0, 1)) as is_from_leader,
        min(statement_kind = 'emptied') as is_emptied,
        min(logged_at) as reported_at,
        min_by(struct(node_id, isr), struct(logged_at, source_path, byte_offset)) as first_told,
        max(isr_before) as isr_before,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from named
    group by all
),

-- In KRaft each replica logs each version.
claims as (
    select * from {{ ref('int_partitions__claims') }}
    where partition_epoch is not null and reported_by = 'state_change_log'
),

told as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        partition_epoch,
        collect_set(node_id) as told_by
    from claims
    group by
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        partition_epoch
),

-- Clusters whose followers do so.
telling as (
    select
        cluster_id,
        cluster_incarnation
    from claims
    where {{ has_role('leadership_skip') }} and node_id <> leader_id
    group by cluster_id, cluster_incarnation
),

-- One row per state of a partition of which a record lists the in-sync replicas: per version where
-- records print it, else per leader epoch and per line of a leader.
-- If lines differ on a state, the leader's own counts, then for a version the latest controller's,
-- then the first.
states as (
    {{
        latest_per(
            'candidates',
            ['cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation', 'state_name'],
            ['is_from_leader desc', 'version_controller_epoch desc', 'reported_at', 'isr_members']
        )
    }}
),

-- A state is never later than those with a higher version, whenever it was first logged; it is of no later epoch than they.
versioned as (
    select
        *,
        case
            when partition_epoch is null then reported_at
            else min(reported_at) over (later)
        end as stored_at,
        case
            when partition_epoch is null then leader_epoch
            else coalesce(leader_epoch, min(leader_epoch) over (later))
        end as latest_epoch
    from states
    window later as (
        partition by
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            partition_epoch is null
        order by partition_epoch desc
        rows between unbounded preceding and current row
    )
),

-- Nor is it later than those of a higher leader epoch.
timed as (
    select
        *,
        case
            when leader_epoch is null then stored_at
            else
                least(
                    stored_at,
                    min(reported_at) over (
                        partition by
                            cluster_id,
                            cluster_incarnation,
                            topic_name,
                            partition_id,
                            topic_incarnation
                        order by leader_epoch desc
                        range between unbounded preceding and 1 preceding
                    )
                )
        end as changed_at
    from versioned
),

heard as (
    select
        timed.*,
        telling.cluster_id is not null
        and timed.partition_epoch is not null
        and exists(
            timed.isr_members,
            member -> not array_contains(coalesce(told.told_by, array()), member)
        ) as is_member_silent,
        -- In ZooKeeper mode the first state of an epoch is as old as the epoch.
        timed.is_from_leader = 0
        and timed.partition_epoch is null
        and coalesce(epochs.is_dated_late, false) as is_epoch_dated_late,
        coalesce(epochs.previous_leader_epoch < timed.leader_epoch - 1, timed.leader_epoch > 0)
            as is_earlier_epoch_missing
    from timed
    left join telling using (cluster_id, cluster_incarnation)
    left join told
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            partition_epoch
        )
    left join epochs
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            leader_epoch
        )
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        row_number() over (life) as state_number,
        changed_at,
        reported_at,
        changed_at < reported_at as is_logged_late,
        lead(changed_at) over (life) as next_changed_at,
        first_told.node_id,
        leader_epoch,
        partition_epoch,
        -- The next record of the same epoch and set may print its version.
        coalesce(
            partition_epoch,
            if(
                leader_epoch = lead(leader_epoch) over (life)
                and isr_members = lead(isr_members) over (life),
                lead(partition_epoch) over (life),
                null
            )
        ) as confirmed_partition_epoch,
        is_from_leader,
        is_emptied,
        first_told.isr,
        isr_members,
        sort_array(isr_before) as stated_before,
        isr_before,
        last_value(leader_epoch, true) over (earlier) as previous_leader_epoch,
        last_value(partition_epoch, true) over (earlier) as previous_partition_epoch,
        last_value(if(partition_epoch is null, null, isr_members), true) over (earlier)
            as previous_version_members,
        lag(isr_members) over (life) as previous_members,
        lag(first_told.isr) over (life) as previous_isr,
        coalesce(partition_epoch > lag(partition_epoch) over (life) + 1, false)
            as is_version_missing,
        -- In ZooKeeper mode only the leader changes the set within its epoch, and nobody else adds a replica to it, but that
        -- an unclean election makes a set of one.
        coalesce(
            is_from_leader = 0
            and order_epoch is not null
            and isr_members <> lag(isr_members) over (life)
            and (
                leader_epoch = last_value(leader_epoch, true) over (earlier)
                or (
                    size(isr_members) > 1
                    and size(array_except(isr_members, lag(isr_members) over (life))) > 0
                )
            ),
            false
        ) as is_told_late,
        is_member_silent,
        is_epoch_dated_late,
        -- Leaders' lines of that time name no epoch.
        coalesce(
            is_earlier_epoch_missing
            and isr_before is null
            and lag(isr_members) over (life) is not null
            and last_value(leader_epoch, true) over (earlier) is null,
            false
        ) as is_first_of_epochs,
        -- A leader that states the set before knows; otherwise versions, or epochs, that are not there were other states.
        coalesce(
            if(isr_before is null, null, sort_array(isr_before) <> lag(isr_members) over (life)),
            partition_epoch > last_value(partition_epoch, true) over (earlier) + 1,
            leader_epoch > last_value(leader_epoch, true) over (earlier) + 1,
            false
        ) as is_one_missing,
        evidence,
        evidence_count
    from heard
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by
                changed_at, coalesce(latest_epoch, -1), coalesce(partition_epoch, -1), state_name
        ),
        earlier as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by
                changed_at, coalesce(latest_epoch, -1), coalesce(partition_epoch, -1), state_name
            rows between unbounded preceding and 1 preceding
        )
)

select * from final
