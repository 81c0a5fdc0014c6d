{{ config(materialized='table', file_format='parquet') }}

with node_runs as (
    select * from {{ ref('dim_node_runs') }}
),

process_stalls as (
    select * from {{ ref('fct_process_stalls') }}
),

gc_pauses as (
    select * from {{ ref('fct_gc_pauses') }}
),

session_expiries as (
    select * from {{ ref('fct_session_expiries') }}
),

-- After a process dies, its node is down until the next process is ready.
ended as (
    select
        *,
        lead(coalesce(ready_at, started_at)) over (
            partition by cluster_id, node_id order by run_number
        ) as returned_at
    from node_runs
),

final as (
    select
        {{
            incident_fact(
                'dim_node_runs', 'node_run_key',
                "if(end_kind = 'clean', 'controlled_stop', 'process_death')",
                'coalesce(stopping_at, stopped_at)', 'returned_at', nodes='array(node_id)',
                detail=in_words('end_kind')
            )
        }}
    from ended
    where end_kind in ('clean', 'killed', 'fatal') and stopped_at is not null
    union all
    select
        {{
            incident_fact(
                'fct_process_stalls', 'process_stall_key',
                "if(contains(lower(process_name), 'zookeeper'), 'zookeeper_stall', 'process_stall')",
                'started_at', 'ended_at', nodes='array_compact(array(node_id))',
                owner='if(node_id is null, owner, process_name)',
                detail="concat('detected by ', " ~ in_words('found_by') ~ ")", duration='duration_ms'
            )
        }}
    from process_stalls
    union all
    -- A shorter collection does no harm by itself.
    select
        {{
            incident_fact(
                'fct_gc_pauses', 'gc_pause_key', "'gc_pause'", 'started_at', 'ended_at',
                nodes='array_compact(array(node_id))', owner='if(node_id is null, owner, process_name)',
                detail='cause', duration='duration_ms'
            )
        }}
    from gc_pauses
    where duration_ms >= 1000
    union all
    select
        {{
            incident_fact(
                'fct_session_expiries', 'session_expiry_key',
                "if(session_kind in ('zookeeper_client', 'zookeeper_controller'), 'client_session_expired', 'session_expired')",
                'expired_at', 'if(reconnected_at < expired_at, expired_at, reconnected_at)',
                nodes='array_compact(array(node_id))', owner='owner',
                processes=evidence_processes(), caused_by='cause_key', detail=in_words('cause_kind'), duration='unavailable_ms'
            )
        }}
    from session_expiries
    where expired_at is not null
)

select * from final
