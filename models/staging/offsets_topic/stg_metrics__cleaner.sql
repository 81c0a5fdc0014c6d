with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

final as (
    select
        cluster_id,
        node_id,
        sampled_at,
        metric,
        labels_text,
        value,
        source_id,
        source_path,
        byte_offset
    from samples
    where
        metric in (
            'cleaner_dead_threads', 'cleaner_time_since_last_run_ms', 'uncleanable_partitions'
        )
        and value is not null
        and not isnan(value)
)

select * from final
