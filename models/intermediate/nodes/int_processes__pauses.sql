{{ config(materialized='table') }}

with gc_events as (
    select * from {{ ref('stg_captures__gc_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

clients as (
    select * from {{ ref('int_clients__named') }}
),

collections as (
    select *
    from gc_events
    where row_kind = 'gc_pause' and inside_gc_id is null
),

-- One row per stop of all threads at a safepoint of at least `gc_pause_ms`, with what the
-- collections within it explain of it.
-- A pause is also a safepoint: a safepoint counts only for the part that its collections do not explain.
safepoints as (
    select
        safepoints.cluster_id,
        safepoints.source_id,
        safepoints.byte_offset,
        safepoints.row_number,
        coalesce(sum(collections.duration_ms), 0) as explained_ms
    from gc_events as safepoints
    left join collections
        on
            safepoints.cluster_id = collections.cluster_id
            and safepoints.process_name = collections.process_name
            -- Stamps of JDK 8 are whole milliseconds.
            and collections.started_at >= safepoints.started_at - interval 2 milliseconds
            and safepoints.ended_at > collections.started_at
    where
        safepoints.row_kind = 'safepoint'
        and safepoints.duration_ms >= {{ var('gc_pause_ms') }}
    group by
        safepoints.cluster_id, safepoints.source_id, safepoints.byte_offset, safepoints.row_number
),

stops as (
    select
        gc_events.*,
        case
            when gc_events.row_kind = 'gc_pause' then gc_events.duration_ms
            else gc_events.duration_ms - safepoints.explained_ms
        end as stopped_ms
    from gc_events
    left join safepoints
        on
            gc_events.cluster_id = safepoints.cluster_id
            and gc_events.source_id = safepoints.source_id
            and gc_events.byte_offset = safepoints.byte_offset
            and gc_events.row_number = safepoints.row_number
    where gc_events.inside_gc_id is null and gc_events.duration_ms >= {{ var('gc_pause_ms') }}
),

-- A log and its rotated copy hold the same pause twice. Without a time, the uptime identifies a pause.
reported as (
    select
        cluster_id,
        process_name,
        started_at,
        case when started_at is null then uptime_ms end as uptime_ms,
        row_kind,
        max(node_id) as node_id,
        max(
            case
                when row_kind = 'gc_pause' then pause_kind
                when reach_ms >= stopped_ms / 2 then 'time_to_safepoint'
                else 'safepoint'
            end
        ) as pause_kind,
        max(collector) as collector,
        max(coalesce(cause, operation)) as cause,
        max(failure) as failure,
        started_at + make_dt_interval(0, 0, 0, max(stopped_ms) / 1000) as ended_at,
        max(stopped_ms) as duration_ms,
        max(cpu_ms) as cpu_ms,
        max(heap_before_bytes) as heap_before_bytes,
        max(heap_after_bytes) as heap_after_bytes,
        max(heap_total_bytes) as heap_total_bytes,
        sort_array(flatten(collect_set(warnings))) as log_warnings,
        {{ evidence(at='started_at') }} as evidence,
        count(*) as evidence_count
    from stops
    where stopped_ms >= {{ var('gc_pause_ms') }}
    group by
        cluster_id,
        process_name,
        started_at,
        case when started_at is null then uptime_ms end,
        row_kind
),

placed as (
    {{ placed('reported', at='started_at') }}
),

final as (
    {{ with_owner('placed', at='started_at') }}
)

select * from final
