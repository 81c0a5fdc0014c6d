with node_runs as (
    select * from {{ ref('dim_node_runs') }}
),

session_expiries as (
    select * from {{ ref('fct_session_expiries') }}
),

-- A dead process is away until the next one on its node is ready.
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
                "case when end_kind = 'clean' then 'controlled_stop' else 'process_death' end",
                'coalesce(stopping_at, stopped_at)', 'returned_at', nodes='array(node_id)', detail='end_kind'
            )
        }}
    from ended
    where end_kind in ('clean', 'killed', 'fatal') and stopped_at is not null
    union all
    select
        {{
            incident_fact(
                'fct_session_expiries', 'session_expiry_key',
                "case
                    when session_kind = 'zookeeper_client' then 'client_session_expired'
                    else 'session_expired'
                end",
                'expired_at', 'reconnected_at',
                nodes='case when node_id is null then array() else array(node_id) end',
                owner='owner', caused_by='cause_key', detail='cause_kind', duration='unavailable_ms'
            )
        }}
    from session_expiries
    where expired_at is not null
)

select * from final
