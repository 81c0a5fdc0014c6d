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
        and {{ has_role([
            'log_creation',
            'log_deletion',
            'segment_roll',
            'segment_deletion',
            'segment_deletion_order',
            'cleaning_end',
            'coordinator_load_end',
            'tombstone_failure',
            'uncleanable_partition',
        ]) }}
)

select * from final
