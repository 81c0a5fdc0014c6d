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
        witness,
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
        cast(null as string) as witness,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from derived
),

-- A znode may be read long after the election, when its in-sync set is another: it comes after those who were there.
final as (
    select
        *,
        case
            when claim_kind = 'controller' or witness = 'metadata_dump' then 1
            when claim_kind = 'leader' then 2
            when claim_kind = 'follower' then 3
            when claim_kind = 'request' then 4
            when claim_kind = 'derived' then 6
            else 5
        end as claim_rank
    from told_and_derived
)

select * from final
