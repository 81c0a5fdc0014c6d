with hours as (
    select * from {{ ref('int_offsets__growth_compared') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id', 'hour_at']) }}
            as offsets_topic_growth_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        coalesce(bytes_at_load, bytes_after_cleaning) as bytes_at_end,
        bytes_growth,
        'estimated' as measure_kind,
        cast(segments_rolled as int) as segments_rolled,
        cast(segments_deleted as int) as segments_deleted,
        cast(cleaner_runs as int) as cleaner_runs,
        failed_tombstones,
        longest_load_ms,
        cast(floor((unix_seconds(hour_at) + 3600 - unix_seconds(last_cleaned_at)) / 3600) as int)
            as hours_since_clean,
        -- Out of line with its siblings on the same node: twice the median of a day, and by more than two segments.
        siblings > 2
        and growth_24h > 2 * greatest(median_growth_24h, 0)
        and growth_24h - greatest(median_growth_24h, 0) > 2 * segment_bytes as is_abnormal,
        coalesce(evidence, array()) as evidence,
        evidence_count,
        {{
            warnings({
                'the segment size is the default, not read from the configuration': 'not is_segment_size_known'
            })
        }} as warnings
    from hours
)

select * from final
