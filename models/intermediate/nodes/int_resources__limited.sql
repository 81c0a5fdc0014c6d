{{ config(materialized='table') }}

with samples as (
    select * from {{ ref('stg_metrics__resource_samples') }}
),

exhaustions as (
    select * from {{ ref('stg_logs__exhaustions') }}
    where resource <> 'jvm'
),

segments as (
    select * from {{ ref('int_nodes__segments') }}
),

crashes as (
    select * from {{ ref('stg_captures__resource_limits') }}
    where row_kind = 'jvm_crash'
),

limits as (
    select * from {{ ref('stg_captures__resource_limits') }}
),

file_systems as (
    select * from {{ ref('stg_captures__file_systems') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- One row per sample of a resource or of its limit, per fatal error report with what its
-- process had, per count of segments, per file system, and per record that says that a resource ran out.
observed as (
    select
        cluster_id,
        node_id,
        process_name,
        process_id,
        cast(null as string) as mounted_on,
        sampled_at,
        resource,
        if(is_limit, null, value) as value,
        if(is_limit and value > 0, value, null) as limit_value,
        false as is_refused,
        false as is_doubtful,
        sampled_known_by = 'modified' as is_dated_by_file,
        source_path,
        byte_offset
    from samples
    union all
    select
        cluster_id,
        node_id,
        process_name,
        cast(null as string) as process_id,
        cast(null as string) as mounted_on,
        captured_at as sampled_at,
        'memory_maps' as resource,
        cast(memory_maps as double) as value,
        cast(memory_maps_limit as double) as limit_value,
        -- The system refuses a map to a process that has reached its limit of maps, however much
        -- memory is free.
        coalesce(memory_call = 'mmap', false)
        and coalesce(memory_maps >= memory_maps_limit - 10, true) as is_refused,
        memory_maps is null as is_doubtful,
        captured_known_by = 'modified' as is_dated_by_file,
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
        cast(null as string) as mounted_on,
        captured_at as sampled_at,
        'threads' as resource,
        cast(java_threads as double) as value,
        cast(null as double) as limit_value,
        false as is_refused,
        false as is_doubtful,
        captured_known_by = 'modified' as is_dated_by_file,
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
        cast(null as string) as mounted_on,
        logged_at as sampled_at,
        resource,
        cast(null as double) as value,
        cast(null as double) as limit_value,
        true as is_refused,
        false as is_doubtful,
        false as is_dated_by_file,
        source_path,
        byte_offset
    from exhaustions
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as process_name,
        cast(null as string) as process_id,
        cast(null as string) as mounted_on,
        sampled_at,
        'segment_maps' as resource,
        segment_maps as value,
        cast(null as double) as limit_value,
        false as is_refused,
        false as is_doubtful,
        false as is_dated_by_file,
        source_path,
        byte_offset
    from segments
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as process_name,
        cast(null as string) as process_id,
        mounted_on,
        captured_at as sampled_at,
        'disk_bytes' as resource,
        -- What is reserved for the system is not to be had.
        cast(size_bytes - available_bytes as double) as value,
        cast(size_bytes as double) as limit_value,
        false as is_refused,
        false as is_doubtful,
        captured_known_by = 'modified' as is_dated_by_file,
        source_path,
        byte_offset
    from file_systems
),

-- A metric and its limit are two lines of one scrape; a record that reports exhaustion may be in
-- several files.
sampled as (
    select
        cluster_id,
        node_id,
        if(node_id is null, process_name, null) as process_name,
        process_id,
        mounted_on,
        sampled_at,
        resource,
        -- A socket takes one of the open files, an index of a segment one of the maps.
        case
            when resource like 'sockets%' then 'open_files'
            when resource = 'segment_maps' then 'memory_maps'
            else resource
        end as limited_as,
        max(value) as value,
        max(limit_value) as own_limit,
        max(is_refused) as is_refused,
        max(is_doubtful) as is_doubtful,
        bool_or(is_dated_by_file) as is_dated_by_file,
        {{ evidence(at='sampled_at') }} as evidence,
        count(*) as evidence_count
    from observed
    group by
        cluster_id,
        node_id,
        if(node_id is null, process_name, null),
        process_id,
        mounted_on,
        sampled_at,
        resource
    having count(value) > 0 or max(is_refused)
),

stated as (
    select
        cluster_id,
        node_id,
        'open_files' as resource,
        max_by(open_files_limit, struct(captured_at, open_files_limit)) as limit_value
    from limits
    where open_files_limit is not null
    group by cluster_id, node_id
    union all
    select
        cluster_id,
        node_id,
        'memory_maps' as resource,
        max_by(memory_maps_limit, struct(captured_at, memory_maps_limit)) as limit_value
    from limits
    where memory_maps_limit is not null
    group by cluster_id, node_id
),

limited as (
    select
        sampled.*,
        coalesce(sampled.own_limit, of_nodes.limit_value, of_clusters.limit_value) as limit_value,
        sampled.own_limit is null as is_limit_elsewhere
    from sampled
    left join stated as of_nodes
        on
            sampled.cluster_id = of_nodes.cluster_id
            and sampled.node_id = of_nodes.node_id
            and sampled.limited_as = of_nodes.resource
    left join stated as of_clusters
        on
            sampled.cluster_id = of_clusters.cluster_id
            and of_clusters.node_id is null
            and sampled.limited_as = of_clusters.resource
),

final as (
    {{ placed('limited', at='sampled_at') }}
)

select * from final
