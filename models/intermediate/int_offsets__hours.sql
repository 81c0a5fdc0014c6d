with offsets_events as (
    select * from {{ ref('stg_logs__offsets_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Sizes as the cleaner prints them: in MB, in the notation of its JVM's locale.
sized as (
    select
        offsets_events.cluster_id,
        incarnations.cluster_incarnation,
        offsets_events.node_id,
        offsets_events.partition_id,
        date_trunc('hour', offsets_events.logged_at) as hour_at,
        offsets_events.logged_at,
        offsets_events.source_path,
        offsets_events.byte_offset,
        offsets_events.event_type,
        offsets_events.tombstones,
        offsets_events.segment_bytes,
        offsets_events.duration_ms,
        offsets_events.bytes_loaded,
        cast({{ megabytes('offsets_events.start_size_mb') }} * 1048576 as bigint)
            as cleaned_from_bytes,
        cast({{ megabytes('offsets_events.end_size_mb') }} * 1048576 as bigint) as cleaned_to_bytes
    from offsets_events
    inner join incarnations
        on
            offsets_events.cluster_id = incarnations.cluster_id
            and offsets_events.logged_at >= incarnations.valid_from
            and offsets_events.logged_at < incarnations.valid_to
    where offsets_events.node_id is not null and offsets_events.partition_id is not null
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        count_if(event_type = 'segment_rolled') as segments_rolled,
        count_if(event_type = 'segment_deleted') as segments_deleted,
        sum(case when event_type = 'segment_deleted' then segment_bytes end) as bytes_deleted,
        count_if(event_type = 'cleaning_completed') as cleaner_runs,
        sum(
            case
                when event_type = 'cleaning_completed' then cleaned_from_bytes - cleaned_to_bytes
            end
        ) as bytes_cleaned,
        max_by(cleaned_to_bytes, logged_at) filter (where event_type = 'cleaning_completed')
            as bytes_after_cleaning,
        max_by(bytes_loaded, logged_at) filter (where event_type = 'offsets_load_completed')
            as bytes_at_load,
        max(case when event_type = 'cleaning_completed' then logged_at end) as cleaned_at,
        max(case when event_type = 'offsets_load_completed' then duration_ms end)
            as longest_load_ms,
        coalesce(sum(case when event_type = 'tombstones_append_failed' then tombstones end), 0)
            as failed_tombstones,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from sized
    group by cluster_id, cluster_incarnation, node_id, partition_id, hour_at
)

select * from final
