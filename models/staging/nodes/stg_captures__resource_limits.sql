with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        {{ process_name() }} as process_name,
        captured_at,
        captured_known_by,
        event_date,
        row_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('reason') }} as reason,
        {{ field('memory_call') }} as memory_call,
        {{ field('memory_maps', 'bigint') }} as memory_maps,
        {{ field('java_threads', 'bigint') }} as java_threads,
        case
            when row_kind = 'jvm_crash' then {{ field('open_files_limit', 'bigint') }}
            when {{ field('name') }} = 'open_files' then {{ field('soft', 'bigint') }}
        end as open_files_limit,
        case
            when row_kind = 'jvm_crash' then {{ field('max_map_count', 'bigint') }}
            when {{ field('name') }} = 'vm.max_map_count' then {{ field('value', 'bigint') }}
        end as memory_maps_limit
    from capture_rows
    where
        row_kind = 'jvm_crash'
        or (row_kind = 'limit' and {{ field('name') }} = 'open_files')
        or (row_kind = 'kernel_setting' and {{ field('name') }} = 'vm.max_map_count')
)

select * from final
