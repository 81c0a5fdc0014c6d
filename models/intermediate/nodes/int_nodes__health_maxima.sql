with pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

stalls as (
    select * from {{ ref('int_processes__stalls') }}
),

resources as (
    select * from {{ ref('int_resources__limited') }}
),

paused as (
    select
        cluster_id,
        node_id,
        explode(array('@longest_gc_pause_ms', '@longest_pause_ms')) as setting,
        cast(duration_ms as double) as value,
        started_at as measured_at,
        evidence
    from pauses
    where row_kind = 'gc_pause'
    union all
    select
        cluster_id,
        node_id,
        '@longest_pause_ms' as setting,
        cast(unix_millis(ended_at) - unix_millis(started_at) as double) as value,
        started_at as measured_at,
        evidence
    from stalls
),

unioned as (
    select * from paused
    union all
    select
        cluster_id,
        node_id,
        concat('@', resource, '_of_limit') as setting,
        cast(value as double) / limit_value as value,
        sampled_at as measured_at,
        evidence
    from resources
    where value is not null and limit_value > 0
    union all
    select
        cluster_id,
        node_id,
        if(limited_as = 'memory_maps', '@vm.max_map_count', '@nofile') as setting,
        cast(limit_value as double) as value,
        sampled_at as measured_at,
        evidence
    from resources
    where
        value is not null and limit_value > 0 and limited_as in ('memory_maps', 'open_files')
    union all
    select
        cluster_id,
        node_id,
        concat('@', resource) as setting,
        cast(value as double) as value,
        sampled_at as measured_at,
        evidence
    from resources
    where
        value is not null
        and limit_value > 0
        and resource in ('memory_maps', 'segment_maps', 'open_files')
),

final as (
    select
        cluster_id,
        node_id,
        setting,
        value,
        measured_at,
        get(evidence, 0).source_path as source_path,
        get(evidence, 0).byte_offset as byte_offset
    from unioned
    where node_id is not null and value is not null
)

select * from final
