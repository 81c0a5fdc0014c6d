with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        event_date,
        row_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        fields
    from capture_rows
    where row_kind in ('deadlock', 'thread') and node_id is not null
)

select * from final
