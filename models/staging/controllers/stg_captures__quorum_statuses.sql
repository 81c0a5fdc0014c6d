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
        {{ field('leader_id', 'int') }} as leader_id,
        {{ field('leader_epoch', 'int') }} as leader_epoch
    from capture_rows
    where row_kind = 'quorum_status' and {{ field('leader_id', 'int') }} is not null
)

select * from final
