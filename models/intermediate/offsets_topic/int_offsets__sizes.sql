with samples as (
    select * from {{ ref('stg_metrics__log_sizes') }}
),

replica_logs as (
    select * from {{ ref('stg_captures__replica_logs') }}
),

directory_sizes as (
    select * from {{ ref('stg_captures__directory_sizes') }}
),

directory_entries as (
    select * from {{ ref('stg_captures__directory_entries') }}
),

-- A listing gives the size of its segments; du also counts indexes and blocks, and is used only if
-- there is nothing better.
measures as (
    select
        cluster_id,
        node_id,
        partition_id,
        sampled_at as measured_at,
        size_bytes,
        1 as size_rank,
        false as is_unit_inferred,
        source_path,
        byte_offset
    from samples
    where topic_name = '__consumer_offsets' and not is_future
    union all
    select
        cluster_id,
        node_id,
        partition_id,
        captured_at as measured_at,
        size_bytes,
        1 as size_rank,
        false as is_unit_inferred,
        source_path,
        byte_offset
    from replica_logs
    where topic_name = '__consumer_offsets' and not coalesce(is_future, false)
    union all
    select
        cluster_id,
        node_id,
        partition_id,
        captured_at as measured_at,
        sum(size_bytes) as size_bytes,
        2 as size_rank,
        false as is_unit_inferred,
        source_path,
        min(byte_offset) as byte_offset
    from directory_entries
    where topic_name = '__consumer_offsets' and segment_file = 'log'
    group by cluster_id, node_id, partition_id, captured_at, source_id, source_path
    union all
    select
        cluster_id,
        node_id,
        partition_id,
        captured_at as measured_at,
        size_bytes,
        3 as size_rank,
        coalesce(size_known_by = 'concluded', false) as is_unit_inferred,
        source_path,
        byte_offset
    from directory_sizes
    where topic_name = '__consumer_offsets' and directory_state is null
),

known as (
    select * from measures
    where
        node_id is not null
        and partition_id is not null
        and measured_at is not null
        and size_bytes is not null
),

final as (
    select
        *,
        min(size_rank) over (
            partition by cluster_id, node_id, partition_id, date_trunc('hour', measured_at)
        ) = size_rank as is_best
    from known
)

select * from final
