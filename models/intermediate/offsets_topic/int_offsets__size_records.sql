with offsets_events as (
    select * from {{ ref('stg_logs__offsets_events') }}
    where node_id is not null and partition_id is not null
),

sizes as (
    select * from {{ ref('int_offsets__sizes') }}
),

settings as (
    select
        cluster_id,
        node_id,
        max_by(segment_bytes, struct(logged_at, source_path, byte_offset)) as segment_bytes
    from {{ ref('stg_logs__offsets_settings') }}
    where segment_bytes is not null
    group by cluster_id, node_id
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The size that each record reports: a cleaner prints MB, in the notation of its JVM's locale.
reported as (
    select
        cluster_id,
        node_id,
        partition_id,
        logged_at,
        event_type,
        source_path,
        byte_offset,
        tombstones,
        segment_bytes as deleted_bytes,
        duration_ms,
        cast({{ megabytes('start_size_mb') }} * 1048576 as bigint) as cleaned_from_bytes,
        case
            when {{ has_role('cleaning_end') }}
                then cast({{ megabytes('end_size_mb') }} * 1048576 as bigint)
            when {{ has_role('coordinator_load_end') }} then bytes_loaded
            when {{ has_role(['log_creation', 'log_deletion']) }} then 0
        end as reported_bytes,
        cast(null as bigint) as measured_bytes,
        false as is_unit_inferred
    from offsets_events
    union all
    select
        cluster_id,
        node_id,
        partition_id,
        measured_at as logged_at,
        'size_measured' as event_type,
        source_path,
        byte_offset,
        null as tombstones,
        null as deleted_bytes,
        null as duration_ms,
        null as cleaned_from_bytes,
        size_bytes as reported_bytes,
        case when is_best then size_bytes end as measured_bytes,
        is_unit_inferred
    from sizes
),

placed_steps as (
    {{ placed('reported') }}
),

final as (
    select
        placed_steps.*,
        date_trunc('hour', placed_steps.logged_at) as hour_at,
        -- Kafka's own default where the node's configuration is not in the logs.
        coalesce(settings.segment_bytes, 104857600) as segment_bytes,
        settings.segment_bytes is not null as is_segment_size_known
    from placed_steps
    left join settings
        on
            placed_steps.cluster_id = settings.cluster_id
            and placed_steps.node_id = settings.node_id
)

select * from final
