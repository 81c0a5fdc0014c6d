with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        partition_id,
        {{ field('tombstones', 'bigint') }} as tombstones,
        {{ field('bytes_loaded', 'bigint') }} as bytes_loaded,
        {{ field('duration_ms', 'bigint') }} as duration_ms,
        {{ field('segment_bytes', 'bigint') }} as segment_bytes,
        {{ field('end_size_mb') }} as end_size_mb,
        {{ field('start_size_mb') }} as start_size_mb
    from events
    where
        topic_name = '__consumer_offsets'
        and event_type in (
            'log_created',
            'log_deleted',
            'segment_rolled',
            'segment_deleted',
            'segment_deletion_scheduled',
            'cleaning_completed',
            'offsets_load_completed',
            'tombstones_append_failed',
            'partition_marked_uncleanable'
        )
)

select * from final
