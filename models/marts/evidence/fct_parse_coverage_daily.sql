{{ config(meta={'at': 'event_date'}) }}

with coverage as (
    select * from {{ ref('int_logs__coverage') }}
    where {{ in_built_clusters() }} and {{ since('event_date') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

final as (
    select
        {{ row_key(['coverage.cluster_id', 'node_id', 'logger', 'event_date']) }} as parse_coverage_daily_key,
        {{ cluster_key(of='incarnations') }} as cluster_key,
        {{ node_key(of='coverage') }} as node_key,
        coverage.cluster_id,
        incarnations.cluster_incarnation,
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
    left join incarnations on {{ at_end_of_day('coverage') }}
)

select * from final
