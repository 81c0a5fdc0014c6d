with files as (
    select * from {{ ref('stg_sources__files') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

versions as (
    select
        cluster_id,
        source_id,
        max_by(kafka_version, struct(logged_at, byte_offset)) as kafka_version
    from lifecycle_events
    where event_type = 'kafka_version_logged'
    group by cluster_id, source_id
),

-- A file is described as it was last seen; what was read of it adds up.
grouped as (
    select
        cluster_id,
        source_path,
        max_by(source_id, batch_id) as source_id,
        max_by(node_id, batch_id) as node_id,
        max_by(node_known_by, batch_id) as node_known_by,
        max_by(source_kind, batch_id) as source_kind,
        max_by(layout_name, batch_id) as layout_name,
        max_by(zone, batch_id) as zone,
        max_by(zone_known_by, batch_id) as zone_known_by,
        max_by(outcome, batch_id) as outcome,
        max_by(reason, batch_id) as reason,
        max_by(size_bytes, batch_id) as size_bytes,
        sum(coalesce(end_offset - start_offset, 0)) as bytes_read,
        sum(records) as records,
        sum(recognised) as recognised,
        max_by(is_compressed, batch_id) as is_compressed,
        max_by(modified_at, batch_id) as modified_at,
        min(ingested_at) as first_ingested_at,
        max(ingested_at) as last_ingested_at,
        max_by(warnings, batch_id) as warnings
    from files
    group by cluster_id, source_path
),

final as (
    select
        grouped.*,
        versions.kafka_version
    from grouped
    left join versions
        on grouped.cluster_id = versions.cluster_id and grouped.source_id = versions.source_id
)

select * from final
