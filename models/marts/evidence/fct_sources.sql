with latest as (
    select * from {{ ref('int_sources__latest') }}
),

last_incarnations as (
    select
        cluster_id,
        max(cluster_incarnation) as cluster_incarnation
    from {{ ref('int_clusters__incarnations') }}
    group by cluster_id
),

final as (
    select
        {{ row_key(['cluster_id', 'source_path']) }} as source_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
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
    left join last_incarnations using (cluster_id)
)

select * from final
