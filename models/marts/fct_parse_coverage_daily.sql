{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
        partition_by=['event_date'],
        on_schema_change='fail'
    )
}}

with coverage as (
    select * from {{ ref('int_logs__coverage') }}
    {% if is_incremental() -%}
        where event_date in ({{ touched_days(source('bronze', 'log_records')) }})
    {%- endif %}
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
