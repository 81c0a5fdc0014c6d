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
    where {{ has_role('kafka_version') }}
    group by cluster_id, source_id
),

-- A file is described as it was last seen. A file that was passed twice, by overlapping paths, has outcomes read and copy.
latest as (
    {{ latest_per(
        'files',
        ['cluster_id', 'source_path'],
        ['batch_id desc', "outcome = 'copy' asc", 'outcome asc', 'source_id asc']
    ) }}
),

-- Counts add up over all ingestions.
summed as (
    select
        cluster_id,
        source_path,
        sum(coalesce(end_offset - start_offset, 0)) as bytes_read,
        sum(records) as records,
        sum(recognised) as recognised,
        min_by(ingested_at, batch_id) as first_ingested_at
    from files
    group by cluster_id, source_path
),

final as (
    select
        latest.cluster_id,
        latest.source_path,
        latest.source_id,
        latest.node_id,
        latest.node_known_by,
        latest.source_kind,
        latest.layout_name,
        latest.layout_known_by,
        latest.zone,
        latest.zone_known_by,
        latest.outcome,
        latest.reason,
        latest.size_bytes,
        summed.bytes_read,
        summed.records,
        summed.recognised,
        latest.is_compressed,
        latest.modified_at,
        summed.first_ingested_at,
        latest.ingested_at as last_ingested_at,
        latest.warnings,
        versions.kafka_version
    from latest
    inner join summed
        on latest.cluster_id = summed.cluster_id and latest.source_path = summed.source_path
    left join versions
        on latest.cluster_id = versions.cluster_id and latest.source_id = versions.source_id
)

select * from final
