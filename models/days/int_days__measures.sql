{{ config(materialized='table', file_format='parquet') }}

with counts as (
    select * from {{ ref('int_days__counts') }}
),

windows as (
    select * from {{ ref('int_days__windows') }}
),

coverage as (
    select * from {{ ref('fct_parse_coverage_daily') }}
),

gathered as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        cast(value as bigint) as value
    from counts
    union all
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        cast(value as bigint) as value
    from windows
    union all
    select
        cluster_id,
        node_id,
        'records' as measure,
        event_date,
        cast(records as bigint) as value
    from coverage
),

final as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        sum(value) as value
    from gathered
    where event_date is not null
    group by cluster_id, node_id, measure, event_date
)

select * from final
