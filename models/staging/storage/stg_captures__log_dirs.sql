with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        captured_known_by,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('log_dir') }} as log_dir,
        {{ field('exception') }} as exception,
        {{ field('message') }} as exception_message
    from capture_rows
    where row_kind = 'log_dir'
)

select * from final
