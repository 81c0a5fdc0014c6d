{{ config(materialized='table', file_format='parquet') }}

with capture_rows as (
    select * from {{ source('bronze', 'capture_rows') }}
),

-- Sorted, so that a reader of one kind of row finds them together and skips the rest.
final as (
    select
        cluster_id,
        node_id,
        captured_at,
        event_date,
        row_kind,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        captured_known_by,
        fields,
        warnings
    from capture_rows
    where {{ in_built_clusters() }}
    order by row_kind, captured_at
)

select * from final
