{{ config(materialized='table', meta={'known_values': 'row_kind'}) }}

with capture_rows as (
    select * from {{ source('bronze', 'capture_rows') }} where {{ in_built_clusters() }}
),

nodes as (
    select * from {{ ref('base_sources__nodes') }}
),

-- Sorted, so that a query for one kind of row reads few row groups. A node that the capture's own
-- text does not name may have become known after it was read.
final as (
    select
        capture_rows.cluster_id,
        case
            when capture_rows.node_known_by = 'content' then capture_rows.node_id
            else nodes.node_id
        end as node_id,
        capture_rows.captured_at,
        capture_rows.event_date,
        capture_rows.row_kind,
        capture_rows.source_kind,
        capture_rows.source_id,
        capture_rows.source_path,
        capture_rows.byte_offset,
        capture_rows.row_number,
        capture_rows.captured_known_by,
        capture_rows.fields,
        capture_rows.warnings
    from capture_rows
    left join nodes
        on
            capture_rows.cluster_id = nodes.cluster_id
            and capture_rows.source_id = nodes.source_id
    order by capture_rows.row_kind, capture_rows.captured_at
)

select * from final
