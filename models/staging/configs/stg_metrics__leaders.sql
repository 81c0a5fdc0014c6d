with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

final as (
    select
        cluster_id,
        node_id,
        sampled_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        cast(value as bigint) as leaders
    from samples
    where metric = 'leaders' and node_id is not null and value is not null and not isnan(value)
)

select * from final
