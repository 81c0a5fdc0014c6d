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
        {{ field('path') }} as directory,
        {{ field('size_bytes', 'bigint') }} as size_bytes,
        {{ field('directory_state') }} as directory_state,
        {{ field('size_known_by') }} as size_known_by,
        source_id,
        source_path,
        byte_offset,
        row_number
    from capture_rows
    where row_kind = 'directory_size'
)

select * from final
