{{ config(materialized='table') }}

with pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

gc_events as (
    select * from {{ ref('stg_captures__gc_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

clients as (
    select * from {{ ref('int_clients__named') }}
),

noticed as (
    select * from {{ ref('int_processes__stall_signs') }}
),

-- Several records may show the same stall: a client's log and its GC log, for example, whose names may differ.
followed as (
    select
        *,
        max(ended_at) over (
            partition by cluster_id, node_id, owner
            order by started_at, ended_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as ended_before_at
    from noticed
),

numbered as (
    select
        *,
        sum(if(started_at <= ended_before_at, 0, 1)) over (
            partition by cluster_id, node_id, owner
            order by started_at, ended_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as stall_number
    from followed
),

stalls as (
    select
        cluster_id,
        node_id,
        owner,
        max(process_name) as process_name,
        max(has_several_clients) as has_several_clients,
        min(started_at) as started_at,
        max(ended_at) as ended_at,
        -- From the least direct evidence to the most direct.
        max_by(found_by, array_position(array('hole', 'late_tick', 'pause_without_cpu'), found_by))
            as found_by,
        sum(cpu_ms) as cpu_ms,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from numbered
    group by cluster_id, node_id, owner, stall_number
),

collections as (
    {{ with_owner('gc_events', at='started_at') }}
),

logged as (
    select
        cluster_id,
        node_id,
        owner,
        min(started_at) as first_at,
        max(started_at) as last_at
    from collections
    group by cluster_id, node_id, owner
),

collected as (
    select
        stalls.cluster_id,
        stalls.process_name,
        stalls.started_at,
        cast(round(sum(pauses.cpu_ms)) as bigint) as cpu_ms,
        sum(pauses.duration_ms) as collected_ms
    from stalls
    inner join pauses
        on
            stalls.cluster_id = pauses.cluster_id
            and stalls.owner = pauses.owner
            and stalls.node_id <=> pauses.node_id
            and pauses.row_kind = 'gc_pause'
            and stalls.ended_at > pauses.started_at
            and stalls.started_at < pauses.ended_at
            and coalesce(pauses.cpu_ms >= pauses.duration_ms / 2, true)
    group by stalls.cluster_id, stalls.process_name, stalls.started_at
),

judged as (
    select
        stalls.* except (cpu_ms),
        coalesce(stalls.cpu_ms, collected.cpu_ms) as cpu_ms,
        case
            when stalls.found_by = 'pause_without_cpu' then 'host'
            when
                collected.collected_ms
                >= (unix_millis(stalls.ended_at) - unix_millis(stalls.started_at)) / 2
                then 'gc'
            -- Its GC log continues before and after it, and has no such pause.
            when
                logged.first_at < stalls.started_at and logged.last_at > stalls.ended_at
                then 'host'
            else 'unknown'
        end as cause
    from stalls
    left join collected using (cluster_id, process_name, started_at)
    left join logged
        on
            stalls.cluster_id = logged.cluster_id
            and stalls.owner = logged.owner
            and stalls.node_id <=> logged.node_id
),

final as (
    {{ placed('judged', at='started_at') }}
)

select * from final
