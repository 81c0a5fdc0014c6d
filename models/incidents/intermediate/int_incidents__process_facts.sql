{{ config(materialized='table') }}

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

failures as (
    select * from {{ ref('fct_process_failures') }}
),

-- How far each run got.
begun as (
    select
        *,
        case
            when ready_at is not null
                then
                    struct(
                        run_number,
                        ready_at as at,
                        'was restarted and is ready' as said,
                        start_evidence
                    )
            -- It ran, whether or not its log says that it was ready.
            when
                last_seen_at >= started_at + interval 5 minutes
                and coalesce(failure_kind <> 'start_failed', true)
                then
                    struct(
                        run_number, started_at as at, 'was restarted' as said, start_evidence
                    )
        end as back,
        case
            when started_at is not null and coalesce(failure_kind <> 'start_failed', true)
                then
                    struct(
                        run_number,
                        started_at as at,
                        'began to start, and no record says that it became ready' as said,
                        start_evidence
                    )
        end as restarted
    from node_runs
),

-- After a process ends, its node is down until a later one is back.
ended as (
    select
        * except (back, restarted),
        coalesce(min(back) over (later_runs), min(restarted) over (later_runs)) as returned
    from begun
    window later_runs as (
        partition by cluster_id, node_id
        order by run_number desc
        rows between unbounded preceding and 1 preceding
    )
),

-- A node whose start fails is down until it is ready.
failed as (
    select
        failures.*,
        ended.returned
    from failures
    left join ended on failures.node_run_key = ended.node_run_key
    where failures.failed_at is not null and failures.has_ended_process
),

final as (
    select
        {{
            incident_fact(
                'dim_node_runs', 'node_run_key',
                "if(end_kind = 'clean', 'controlled_stop', 'process_death')",
                'coalesce(stopping_at, stopped_at)', 'returned.at', nodes='array(node_id)',
                caused_by='process_failure_key', detail="coalesce(" ~ in_words('failure_kind') ~ ", " ~ in_words('end_kind') ~ ")",
                returned='returned.said', end_shown_by='returned.start_evidence'
            )
        }}
    from ended
    where
        end_kind in ('clean', 'killed', 'fatal')
        and stopped_at is not null
        and coalesce(failure_kind <> 'start_failed', true)
    union all
    -- How a process ended that was running: its death is the event, and this its cause.
    select
        {{
            incident_fact(
                'fct_process_failures', 'process_failure_key',
                "if(failure_kind = 'start_failed', 'start_failed', 'process_failed')",
                'failed_at', "if(failure_kind = 'start_failed', returned.at, last_sign_at)",
                nodes='array_compact(array(node_id))', owner='process_name', processes=evidence_processes(),
                detail="concat(if(failure_kind = 'start_failed', coalesce(" ~ in_words('failure_reason', 'reason_kind') ~ ", 'reason unknown'), " ~ in_words('failure_kind') ~ "), coalesce(concat(': ', left(detail, 300)), ''))",
                returned='returned.said', end_shown_by='returned.start_evidence',
                burst="if(failure_kind = 'start_failed', concat_ws(':', process_name, reason_kind), process_failure_key)"
            )
        }}
    from failed
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
                processes=evidence_processes(), caused_by='cause_key', detail=in_words('cause_kind'), duration='unavailable_ms', end_shown_by='end_evidence'
            )
        }}
    from session_expiries
    where expired_at is not null
)

select * from final
