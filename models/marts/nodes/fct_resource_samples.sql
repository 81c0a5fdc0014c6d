with samples as (
    select * from {{ ref('int_resources__limited') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'node_id', 'process_name', 'process_id', 'mounted_on', 'sampled_at', 'resource'
            ])
        }} as resource_sample_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        process_id,
        mounted_on,
        sampled_at,
        cast(sampled_at as date) as sampled_date,
        resource,
        cast(value as bigint) as value,
        cast(limit_value as bigint) as limit_value,
        case resource
            when 'memory_maps' then 'vm.max_map_count'
            when 'segment_maps' then 'vm.max_map_count'
            when 'open_files' then 'nofile'
            when 'heap_bytes' then 'Xmx'
            when 'threads' then 'nproc'
            else if(resource like 'sockets%', 'nofile', null)
        end as limit_name,
        -- The maps that the segments need are not the maps that the process has.
        is_refused
        or coalesce(value >= limit_value and resource <> 'segment_maps', false) as is_exhausted,
        evidence,
        evidence_count,
        {{
            warnings({
                'limit unknown': "limit_value is null and resource in ('memory_maps', 'open_files')",
                'concluded: the maps that the indexes of the segments need': "resource = 'segment_maps'",
                'limit taken from another capture': 'is_limit_elsewhere and limit_value is not null',
                'the host may have run out of memory instead': 'is_doubtful',
                'dated by the last change of the file: its text names no time': 'coalesce(is_dated_by_file, false)',
                'time unknown': 'sampled_at is null'
            })
        }} as warnings
    from samples
)

select * from final
