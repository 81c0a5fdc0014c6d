with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

final as (
    select
        cluster_id,
        node_id,
        sampled_at,
        labels['topic'] as topic_name,
        try_cast(labels['partition'] as int) as partition_id,
        cast(value as bigint) as size_bytes,
        coalesce(labels['is_future'], 'false') = 'true' as is_future,
        source_id,
        source_path,
        byte_offset
    from samples
    where metric = 'log_size_bytes' and value is not null and not isnan(value)
)

select * from final
