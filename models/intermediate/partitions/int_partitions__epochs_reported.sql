with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

derived as (
    select * from {{ ref('int_partitions__claims_derived') }}
),

reported_and_derived as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        topic_id,
        leader_epoch,
        leader_id,
        isr,
        replicas,
        controller_id,
        controller_epoch,
        start_offset,
        state_before,
        event_type,
        claim_kind,
        reported_by,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from claims
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        topic_id,
        leader_epoch,
        -1 as leader_id,
        isr,
        cast(null as array<int>) as replicas,
        cast(null as int) as controller_id,
        cast(null as int) as controller_epoch,
        cast(null as bigint) as start_offset,
        cast(null as string) as state_before,
        'leader_loss_derived' as event_type,
        'derived' as claim_kind,
        cast(null as string) as reported_by,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from derived
),

-- One row per record that mentions a leader epoch, and per epoch that follows from the end of
-- a leader.
-- A znode may be read long after the election, when its in-sync set is another: it comes after those who were there.
ranked as (
    select
        *,
        case
            when claim_kind = 'controller' or reported_by = 'metadata_dump' then 1
            when claim_kind = 'leader' then 2
            when claim_kind = 'follower' then 3
            when claim_kind = 'request' then 4
            when claim_kind = 'derived' then 6
            else 5
        end as claim_rank
    from reported_and_derived
),

-- Where records name different leaders, that of the latest controller holds: an older one may still speak after its term is
-- over.
final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        max_by(
            leader_id,
            struct(coalesce(controller_epoch, -1), -claim_rank, logged_at, source_path, byte_offset)
        ) filter (where leader_id is not null) as leader_id,
        min(logged_at) as elected_at,
        min_by(isr, struct(claim_rank, logged_at, source_path, byte_offset))
        filter (where isr is not null) as isr,
        max(controller_epoch) as controller_epoch,
        max_by(controller_id, struct(controller_epoch, logged_at, source_path, byte_offset))
        filter (where controller_id is not null and controller_epoch is not null) as controller_id,
        min_by(start_offset, struct(logged_at, source_path, byte_offset))
        filter (where claim_kind = 'leader') as start_offset,
        min_by(replicas, struct(claim_rank, logged_at, source_path, byte_offset))
        filter (where replicas is not null) as replicas,
        max_by(replicas, struct(logged_at, -claim_rank, source_path, byte_offset))
        filter (where replicas is not null) as last_replicas,
        count(distinct replicas) as replica_lists,
        max(topic_id) as topic_id,
        max(
            case
                when
                    state_before in ('NewPartition', 'New') or {{ has_role('partition_creation') }}
                    then 1
                else 0
            end
        )
        = 1 as is_creation,
        count(distinct leader_id) as leaders_named,
        min(claim_rank) as best_rank,
        array_sort(collect_set(reported_by)) as reported_by,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from ranked
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
)

select * from final
