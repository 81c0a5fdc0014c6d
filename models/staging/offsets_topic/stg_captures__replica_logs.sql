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
        {{ field('log_dir') }} as log_dir,
        {{ field('size_bytes', 'bigint') }} as size_bytes,
        {{ field('offset_lag', 'bigint') }} as offset_lag,
        {{ field('is_future', 'boolean') }} as is_future,
        source_id,
        source_path,
        byte_offset,
        row_number
    from capture_rows
    where row_kind = 'replica_log'
)

select * from final
