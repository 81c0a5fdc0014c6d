with samples as (
    select * from {{ ref('stg_metrics__resource_samples') }}
),

exhaustions as (
    select * from {{ ref('stg_logs__exhaustions') }}
),

segments as (
    select * from {{ ref('int_nodes__segments') }}
),

crashes as (
    select * from {{ ref('stg_captures__resource_limits') }}
    where row_kind = 'jvm_crash'
),

final as (
    select
        cluster_id,
        node_id,
        process_name,
        process_id,
        sampled_at,
        resource,
        if(is_limit, null, value) as value,
        if(is_limit and value > 0, value, null) as limit_value,
        false as is_refused,
        false as is_doubtful,
        source_path,
        byte_offset
    from samples
    union all
    select
        cluster_id,
        node_id,
        process_name,
        cast(null as string) as process_id,
        captured_at as sampled_at,
        'memory_maps' as resource,
        cast(memory_maps as double) as value,
        cast(memory_maps_limit as double) as limit_value,
        -- The system refuses a map to a process that has the most it may have, whatever memory is free.
        coalesce(memory_call = 'mmap', false)
        and coalesce(memory_maps >= memory_maps_limit - 10, true) as is_refused,
        memory_maps is null as is_doubtful,
        source_path,
        byte_offset
    from crashes
    where memory_maps is not null or memory_call = 'mmap'
    union all
    select
        cluster_id,
        node_id,
        process_name,
        cast(null as string) as process_id,
        captured_at as sampled_at,
        'threads' as resource,
        cast(java_threads as double) as value,
        cast(null as double) as limit_value,
        false as is_refused,
        false as is_doubtful,
        source_path,
        byte_offset
    from crashes
    where java_threads is not null
    union all
    select
        cluster_id,
        node_id,
        process_name,
        cast(null as string) as process_id,
        logged_at as sampled_at,
        resource,
        cast(null as double) as value,
        cast(null as double) as limit_value,
        true as is_refused,
        false as is_doubtful,
        source_path,
        byte_offset
    from exhaustions
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as process_name,
        cast(null as string) as process_id,
        sampled_at,
        'segment_maps' as resource,
        segment_maps as value,
        cast(null as double) as limit_value,
        false as is_refused,
        false as is_doubtful,
        source_path,
        byte_offset
    from segments
)

select * from final
