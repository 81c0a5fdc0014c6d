{{ config(materialized='table', file_format='parquet') }}

with stalls as (
    select * from {{ ref('int_processes__stalls_merged') }}
),

pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

gc_events as (
    select * from {{ ref('stg_captures__gc_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

logged as (
    select
        cluster_id,
        process_name,
        min(started_at) as first_at,
        max(started_at) as last_at
    from gc_events
    group by cluster_id, process_name
),

explained as (
    select
        stalls.cluster_id,
        stalls.process_name,
        stalls.node_id,
        stalls.started_at,
        stalls.ended_at,
        stalls.found_by,
        stalls.evidence,
        stalls.evidence_count,
        coalesce(stalls.cpu_ms, cast(round(sum(pauses.cpu_ms)) as bigint)) as cpu_ms,
        sum(pauses.duration_ms) as collected_ms
    from stalls
    left join pauses
        on
            stalls.cluster_id = pauses.cluster_id
            -- A file called gc.log is that of its folder.
            and (
                stalls.process_name = pauses.process_name
                or startswith(stalls.process_name, pauses.process_name || '/')
            )
            and pauses.row_kind = 'gc_pause'
            and stalls.ended_at > pauses.started_at
            and stalls.started_at < pauses.ended_at
            and coalesce(pauses.cpu_ms >= pauses.duration_ms / 2, true)
    group by
        stalls.cluster_id,
        stalls.process_name,
        stalls.node_id,
        stalls.started_at,
        stalls.ended_at,
        stalls.found_by,
        stalls.cpu_ms,
        stalls.evidence,
        stalls.evidence_count
),

judged as (
    select
        explained.* except (collected_ms),
        case
            when explained.found_by = 'pause_without_cpu' then 'host'
            when
                explained.collected_ms
                >= (unix_millis(explained.ended_at) - unix_millis(explained.started_at)) / 2
                then 'gc'
            -- Its GC log goes on before and behind it, and has no such pause.
            when
                logged.first_at < explained.started_at and logged.last_at > explained.ended_at
                then 'host'
            else 'unknown'
        end as cause
    from explained
    left join logged
        on
            explained.cluster_id = logged.cluster_id
            and explained.process_name = logged.process_name
),

final as (
    {{ placed('judged', at='started_at') }}
)

select * from final
