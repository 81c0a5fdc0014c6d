with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        captured_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        {{ field('producer_id', 'bigint') }} as producer_id,
        {{ field('start_offset', 'bigint') }} as start_offset,
        timestamp_millis({{ field('last_timestamp_ms', 'bigint') }}) as last_written_at,
        {{ field('duration_minutes', 'bigint') }} * 60000 as duration_ms
    from capture_rows
    where row_kind = 'hanging_transaction'
)

select * from final
