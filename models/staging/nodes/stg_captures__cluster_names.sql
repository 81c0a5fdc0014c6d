with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        captured_at,
        captured_known_by,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ given(field('cluster_id')) }} as kafka_cluster_id
    from capture_rows
    where row_kind = 'quorum_status' and {{ given(field('cluster_id')) }} is not null
)

select * from final
