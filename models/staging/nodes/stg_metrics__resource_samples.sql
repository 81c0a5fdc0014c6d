with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

final as (
    select
        cluster_id,
        node_id,
        {{ process_name() }} as process_name,
        labels['process_id'] as process_id,
        sampled_at,
        event_date,
        case
            when metric in ('process_open_files', 'process_max_files') then 'open_files'
            when
                metric in ('zk_open_file_descriptor_count', 'zk_max_file_descriptor_count')
                then 'open_files'
            when metric = 'sockets' then 'sockets_' || coalesce(lower(labels['state']), 'all')
            when metric = 'process_memory_maps' then 'memory_maps'
            when metric in ('process_threads', 'jvm_threads') then 'threads'
            when metric like 'jvm_memory%' then coalesce(labels['area'], 'heap') || '_bytes'
            when metric = 'process_resident_memory_bytes' then 'resident_bytes'
        end as resource,
        metric in (
            'process_max_files', 'zk_max_file_descriptor_count', 'jvm_memory_max_bytes'
        ) as is_limit,
        sampled_known_by,
        source_path,
        byte_offset,
        value
    from samples
    where
        metric in (
            'process_open_files',
            'process_max_files',
            'process_memory_maps',
            'process_threads',
            'process_resident_memory_bytes',
            'jvm_threads',
            'jvm_memory_used_bytes',
            'jvm_memory_max_bytes',
            'sockets',
            'zk_open_file_descriptor_count',
            'zk_max_file_descriptor_count'
        )
        and value is not null
)

select * from final
