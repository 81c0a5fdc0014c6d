with samples as (
    select *
    from {{ ref('stg_metrics__samples') }}
    where
        metric in (
            'request_queue_size',
            'request_handler_avg_idle_ratio',
            'network_processor_avg_idle_ratio'
        )
        and attribute <> 'MeanRate'
        and node_id is not null
        and value >= 0
),

-- Of threads a whole hour counts, for each is busy now and then; of a queue its longest.
final as (
    select
        cluster_id,
        node_id,
        case metric
            when 'request_queue_size' then '@request_queue_size'
            when 'request_handler_avg_idle_ratio' then '@request_handlers_busy'
            else '@network_threads_busy'
        end as setting,
        if(metric = 'request_queue_size', max(value), 1 - avg(value)) as value,
        max_by(sampled_at, value) as measured_at,
        max_by(source_path, value) as source_path,
        max_by(byte_offset, value) as byte_offset
    from samples
    group by cluster_id, node_id, metric, date_trunc('hour', sampled_at)
)

select * from final
