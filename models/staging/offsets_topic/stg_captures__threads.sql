with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        {{ process_name() }} as process_name,
        captured_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('dump_number', 'int') }} as dump_number,
        {{ field('name') }} as thread_name,
        {{ field('state') }} as thread_state
    from capture_rows
    where row_kind = 'thread'
)

select * from final
