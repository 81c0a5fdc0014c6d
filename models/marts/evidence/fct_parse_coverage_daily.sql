{{ config(meta={'at': 'event_date'}) }}

with coverage as (
    select * from {{ ref('int_logs__coverage') }}
    where {{ in_built_clusters() }} and {{ since('event_date') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'logger', 'event_date']) }} as parse_coverage_key,
        cluster_id,
        node_id,
        logger,
        records,
        recognised,
        orphans,
        bytes,
        recognised / nullif(records, 0) as recognised_ratio,
        ingested_at,
        event_date
    from coverage
)

select * from final
