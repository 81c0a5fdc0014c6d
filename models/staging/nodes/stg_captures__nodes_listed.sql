with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        coalesce({{ field('node_id', 'int') }}, {{ field('broker_id', 'int') }}) as node_id,
        captured_at,
        captured_known_by,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number
    from capture_rows
    where
        row_kind in ('endpoint', 'quorum_member', 'quorum_replica', 'broker_listed', 'znode')
        and coalesce({{ field('node_id', 'int') }}, {{ field('broker_id', 'int') }}) is not null
)

select * from final
