with sources as (
    select * from {{ source('bronze', 'sources') }}
),

final as (
    select
        cluster_id,
        source_id,
        source_path,
        modified_at,
        kind as source_kind,
        layout as layout_name,
        layout_known_by,
        node_id,
        node_known_by,
        zone,
        zone_known_by,
        outcome,
        reason,
        warnings,
        batch_id,
        size_bytes,
        start_offset,
        end_offset,
        records,
        recognised,
        is_compressed,
        ingested_at
    from sources
    where {{ in_built_clusters() }}
)

select * from final
