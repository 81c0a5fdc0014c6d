{{ config(materialized='table', file_format='parquet') }}

with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

derived as (
    select * from {{ ref('int_partitions__claims_derived') }}
),

told_and_derived as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
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
        topic_life,
        topic_id,
        leader_epoch,
        -1 as leader_id,
        isr,
        cast(null as array<int>) as replicas,
        cast(null as int) as controller_id,
        cast(null as int) as controller_epoch,
        cast(null as bigint) as start_offset,
        cast(null as string) as state_before,
        'broker_stopping' as event_type,
        'derived' as claim_kind,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from derived
),

ranked as (
    select
        *,
        case claim_kind
            when 'controller' then 1
            when 'leader' then 2
            when 'follower' then 3
            when 'request' then 4
            when 'derived' then 6
            else 5
        end as claim_rank
    from told_and_derived
),

-- One row per epoch. Where lines name different leaders, that of the latest controller holds: an older one may still
-- speak after its term is over.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        leader_epoch,
        max_by(leader_id, struct(coalesce(controller_epoch, -1), -claim_rank, logged_at))
        filter (where leader_id is not null) as leader_id,
        min(logged_at) as elected_at,
        min_by(isr, struct(claim_rank, logged_at)) filter (where isr is not null) as isr,
        max(controller_epoch) as controller_epoch,
        max_by(controller_id, struct(controller_epoch, logged_at))
        filter (where controller_id is not null and controller_epoch is not null) as controller_id,
        min_by(start_offset, logged_at) filter (where claim_kind = 'leader') as start_offset,
        min_by(replicas, struct(claim_rank, logged_at)) filter (where replicas is not null)
            as replicas,
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
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from ranked
    group by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        topic_id,
        leader_epoch,
        leader_id,
        lag(leader_epoch) over (life) as previous_leader_epoch,
        lag(leader_id) over (life) as previous_leader_id,
        lag(isr) over (life) as previous_isr,
        lag(elected_at) over (life) as previous_elected_at,
        lead(leader_epoch) over (life) as next_leader_epoch,
        lead(elected_at) over (life) as held_until,
        isr,
        replicas,
        controller_id,
        controller_epoch,
        elected_at,
        start_offset,
        is_creation,
        leaders_named,
        best_rank,
        evidence,
        evidence_count
    from grouped
    window life as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
        order by leader_epoch
    )
)

select * from final
