with steps as (
    select * from {{ ref('int_offsets__steps') }}
),

-- Of a partition whose size was never told only the growth is known.
turned as (
    select
        *,
        case
            when measured_bytes is not null
                then struct(logged_at, source_path, byte_offset, measured_bytes as bytes)
        end as measure,
        case event_type
            when 'segment_rolled' then segment_bytes
            when 'segment_deleted' then -coalesce(deleted_bytes, 0)
            when 'cleaning_completed' then coalesce(told_bytes - cleaned_from_bytes, 0)
            else 0
        end as turned_bytes
    from steps
),

reckoned as (
    select
        *,
        max(told_bytes) over (so_far)
        + sum(if(told_bytes is null, turned_bytes, 0)) over (so_far) as reckoned_bytes
    from turned
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id, told_number
        order by logged_at, source_path, byte_offset
        rows between unbounded preceding and current row
    )
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        max(segment_bytes) as segment_bytes,
        max(is_segment_size_known) as is_segment_size_known,
        count_if(event_type = 'segment_rolled') as segments_rolled,
        count_if(event_type = 'segment_deleted') as segments_deleted,
        sum(turned_bytes) as bytes_turned_over,
        count_if(event_type = 'cleaning_completed') as cleaner_runs,
        max_by(reckoned_bytes, struct(logged_at, source_path, byte_offset)) as reckoned_bytes,
        min(measure).bytes as first_measured_bytes,
        max(measure).bytes as last_measured_bytes,
        count(measured_bytes) as measures,
        max(measured_bytes is not null and is_unit_concluded) as is_unit_concluded,
        max(case when event_type = 'cleaning_completed' then logged_at end) as cleaned_at,
        max(case when event_type = 'offsets_load_completed' then duration_ms end)
            as longest_load_ms,
        coalesce(sum(case when event_type = 'tombstones_append_failed' then tombstones end), 0)
            as failed_tombstones,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from reckoned
    group by cluster_id, cluster_incarnation, node_id, partition_id, hour_at
)

select * from final
