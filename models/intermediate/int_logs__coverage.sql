with records as (
    select * from {{ ref('stg_logs__records') }}
),

final as (
    select
        cluster_id,
        node_id,
        logger,
        event_date,
        count(*) as records,
        count_if(is_recognised) as recognised,
        count_if(outcome = 'orphan') as orphans,
        sum(byte_length) as bytes,
        max(ingested_at) as ingested_at
    from records
    where outcome <> 'source_cut'
    group by cluster_id, node_id, logger, event_date
)

select * from final
