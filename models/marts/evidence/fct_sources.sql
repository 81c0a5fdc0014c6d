with latest as (
    select * from {{ ref('int_sources__latest') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'source_path']) }} as source_key,
        cluster_id,
        source_id,
        source_path,
        node_id,
        node_known_by,
        source_kind,
        layout_name,
        layout_known_by,
        kafka_version,
        zone,
        zone_known_by,
        outcome,
        reason,
        size_bytes,
        bytes_read,
        records,
        recognised,
        is_compressed,
        modified_at,
        first_ingested_at,
        last_ingested_at,
        warnings
    from latest
)

select * from final
