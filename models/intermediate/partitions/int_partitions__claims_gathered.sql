with logged as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

stored as (
    select * from {{ ref('stg_captures__partition_states') }}
),

replayed as (
    select * from {{ ref('int_partitions__metadata_replayed') }}
),

-- A znode that is read again and again is one word; its time is that of its last change, where the stat is printed.
first_read as (
    {{
        latest_per(
            'stored',
            ['cluster_id', 'topic_name', 'partition_id', 'leader_epoch', 'leader_id', 'controller_epoch'],
            ['coalesce(modified_at, captured_at)', 'source_path', 'byte_offset', 'row_number']
        )
    }}
),

final as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        event_type,
        claim_kind,
        witness,
        topic_name,
        partition_id,
        topic_id,
        state_before,
        leader_id,
        leader_epoch,
        partition_epoch,
        isr,
        replicas,
        controller_epoch,
        controller_id,
        start_offset
    from logged
    where leader_epoch >= 0
    union all
    select
        cluster_id,
        node_id,
        coalesce(modified_at, captured_at) as logged_at,
        source_path,
        byte_offset,
        'partition_state_read' as event_type,
        'stored' as claim_kind,
        'znode' as witness,
        topic_name,
        partition_id,
        cast(null as string) as topic_id,
        cast(null as string) as state_before,
        leader_id,
        leader_epoch,
        cast(null as int) as partition_epoch,
        isr,
        cast(null as array<int>) as replicas,
        controller_epoch,
        cast(null as int) as controller_id,
        cast(null as bigint) as start_offset
    from first_read
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        lower(record_type) as event_type,
        'stored' as claim_kind,
        'metadata_dump' as witness,
        topic_name,
        partition_id,
        topic_id,
        cast(null as string) as state_before,
        leader_id,
        leader_epoch,
        cast(null as int) as partition_epoch,
        isr,
        replicas,
        cast(null as int) as controller_epoch,
        cast(null as int) as controller_id,
        cast(null as bigint) as start_offset
    from replayed
)

select * from final
