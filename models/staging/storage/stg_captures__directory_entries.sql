with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        {{ field('path') }} as entry_path,
        {{ field('entry_type') }} as entry_type,
        {{ field('segment_file') }} as segment_file,
        {{ field('base_offset', 'bigint') }} as base_offset,
        {{ field('size_bytes', 'bigint') }} as size_bytes,
        source_id,
        source_path,
        byte_offset,
        row_number
    from capture_rows
    where row_kind = 'directory_entry'
)

select * from final
