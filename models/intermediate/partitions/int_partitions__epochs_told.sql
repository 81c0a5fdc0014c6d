with claims as (
    select * from {{ ref('int_partitions__claims_ranked') }}
),

-- Where lines name different leaders, that of the latest controller holds: an older one may still speak after its term is
-- over.
final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
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
                    state_before in ('NewPartition', 'New') or event_type = 'partition_created'
                    then 1
                else 0
            end
        )
        = 1 as is_creation,
        count(distinct leader_id) as leaders_named,
        min(claim_rank) as best_rank,
        array_sort(collect_set(witness)) as witnesses,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from claims
    group by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch
)

select * from final
