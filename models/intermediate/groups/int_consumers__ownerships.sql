with events as (
    select
        *,
        struct(
            logged_at, event_type, rebalance_number, node_id, source_path, byte_offset
        ) as event
    from {{ ref('int_consumers__rebalance_attempts') }}
),

conflicts as (
    select * from {{ ref('stg_logs__owner_conflicts') }}
),

followed as (
    select
        *,
        lead(
            case
                when {{ has_role(['old_consumer_rebalance_start', 'old_consumer_stop']) }}
                    then event
            end
        ) ignore nulls over (
            partition by cluster_id, cluster_incarnation, member_id
            order by logged_at, source_path, byte_offset
        ) as next_rebalance_or_stop,
        lead(
            case
                when {{ has_role('old_consumer_release') }}
                    then event
            end
        ) ignore nulls over (
            partition by cluster_id, cluster_incarnation, member_id
            order by logged_at, source_path, byte_offset
        ) as release_event
    from events
),

-- A rebalance begins before its partitions are released; if no record shows the release, the start of the rebalance counts.
released as (
    select
        *,
        if(
            {{ has_role('old_consumer_rebalance_start', 'next_rebalance_or_stop.event_type') }}
            and release_event.rebalance_number = next_rebalance_or_stop.rebalance_number,
            release_event,
            next_rebalance_or_stop
        ) as release
    from followed
),

-- A consumer releases all of its partitions before it redistributes them, and when it stops.
owned as (
    select
        cluster_id,
        cluster_incarnation,
        {{ group_of_member('member_id') }} as group_id,
        topic_name,
        partition_id,
        member_id,
        logged_at as owned_at,
        release.logged_at as released_at,
        release.event_type as released_by,
        release.rebalance_number as released_in,
        struct(node_id, source_path, byte_offset) as owned_line,
        case
            when release is not null
                then struct(release.node_id, release.source_path, release.byte_offset)
        end as released_line
    from released
    where
        {{ has_role('old_consumer_ownership') }}
        and topic_name is not null
        and partition_id is not null
),

-- After the release another consumer may own the partition, although no record of its own says so: others find it.
final as (
    select
        owned.*,
        min(conflicts.logged_at) as others_at
    from owned
    left join conflicts
        on
            owned.cluster_id = conflicts.cluster_id
            and owned.group_id = conflicts.group_id
            and owned.topic_name = conflicts.topic_name
            and owned.partition_id = conflicts.partition_id
            and owned.member_id <> conflicts.owner_id
            and owned.released_at <= conflicts.logged_at
    group by all
)

select * from final
