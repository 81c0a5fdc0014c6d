{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
        partition_by=['event_date'],
        on_schema_change='fail'
    )
}}

with records as (
    select * from {{ ref('stg_logs__records') }}
    where {{ in_touched_days(source('bronze', 'log_records')) }} and {{ in_new_batches() }}
),

counted as (
    select
        cluster_id,
        node_id,
        logger,
        event_date,
        count(*) as records,
        count_if(is_recognised) as recognised,
        count_if(outcome = 'orphan') as orphans,
        sum(byte_length) as bytes,
        max(batch_id) as batch_id,
        max_by(ingested_at, batch_id) as ingested_at
    from records
    where outcome <> 'source_cut'
    group by cluster_id, node_id, logger, event_date
    {% call in_part() %}
    union all
    select
        cluster_id,
        node_id,
        logger,
        event_date,
        records,
        recognised,
        orphans,
        bytes,
        batch_id,
        ingested_at
    from {{ as_before() }} as held
    where {{ in_touched_days(source('bronze', 'log_records')) }}
    {% endcall %}
),

-- Counts add up: new records are added to the counts that are stored for the day.
final as (
    select
        cluster_id,
        node_id,
        logger,
        event_date,
        sum(records) as records,
        sum(recognised) as recognised,
        sum(orphans) as orphans,
        sum(bytes) as bytes,
        max(batch_id) as batch_id,
        max_by(ingested_at, batch_id) as ingested_at
    from counted
    group by cluster_id, node_id, logger, event_date
)

select * from final
