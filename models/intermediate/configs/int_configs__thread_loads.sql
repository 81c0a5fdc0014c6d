with samples as (
    select *
    from {{ ref('base_metrics__samples') }}
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

-- Threads are judged by the whole hour, because each is busy now and then, with the least idle
-- sample as evidence; a queue by its longest sample.
grouped as (
    select
        cluster_id,
        node_id,
        case metric
            when 'request_queue_size' then '@request_queue_size'
            when 'request_handler_avg_idle_ratio' then '@request_handlers_busy'
            else '@network_threads_busy'
        end as setting,
        if(metric = 'request_queue_size', max(value), 1 - avg(value)) as value,
        max_by(
            struct(sampled_at, source_path, byte_offset),
            struct(
                if(metric = 'request_queue_size', value, -value) as load,
                sampled_at,
                source_path,
                byte_offset
            )
        ) as line
    from samples
    group by cluster_id, node_id, metric, date_trunc('hour', sampled_at)
),

final as (
    select
        cluster_id,
        node_id,
        setting,
        value,
        line.sampled_at as measured_at,
        line.source_path,
        line.byte_offset
    from grouped
)

select * from final
