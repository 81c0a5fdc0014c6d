with sessions as (
    select * from {{ ref('int_sessions__expiries_with_return') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

stops as (
    select * from {{ ref('int_processes__standstills') }}
),

session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

-- A cause reaches into the time from the last contact to the expiry; where no last contact is told, into one timeout and a
-- half before the expiry (it is due at the server's next tick), or 15 seconds where no timeout is told.
windows as (
    select
        sessions.*,
        coalesce(owners.has_several_clients, false) as has_several_clients,
        coalesce(
            sessions.last_contact_at,
            sessions.expired_at
            - make_dt_interval(0, 0, 0, coalesce(sessions.timeout_ms, 10000) * 1.5 / 1000)
        ) as since_at,
        -- The client's pings leave a third of the timeout: half of it without the process is too much.
        coalesce(sessions.timeout_ms, 6000) div 2 as long_enough_ms
    from sessions
    left join owners
        on sessions.cluster_id = owners.cluster_id and sessions.session_id = owners.session_id
),

stopped as (
    select
        windows.cluster_id,
        windows.owner,
        windows.session_id,
        windows.expired_at,
        min(
            struct(
                windows.expired_at > stops.ended_at as is_over,
                if(
                    windows.owner = stops.owner and windows.node_id <=> stops.node_id,
                    stops.cause_rank,
                    3
                ) as cause_rank,
                stops.started_at,
                stops.cause_key
            )
        ) as stop
    from windows
    inner join stops
        on
            windows.cluster_id = stops.cluster_id
            and windows.expired_at > stops.started_at
            and windows.since_at < stops.ended_at
            and unix_millis(stops.ended_at) - unix_millis(stops.started_at)
            >= windows.long_enough_ms
            and (
                (windows.owner = stops.owner and windows.node_id <=> stops.node_id)
                -- A server that stands still expires sessions of clients that could not reach it.
                or (windows.session_id is not null and contains(stops.process_name, 'zookeeper'))
            )
    group by windows.cluster_id, windows.owner, windows.session_id, windows.expired_at
),

-- What is left, where the client says in time that it hears nothing.
unheard as (
    select
        cluster_id,
        session_id
    from session_events
    where {{ has_role('session_timeout') }}
    group by cluster_id, session_id
),

final as (
    select
        windows.*,
        stopped.stop.cause_rank,
        stopped.stop.cause_key as stop_key,
        unheard.session_id is not null as is_unheard
    from windows
    left join stopped
        on
            windows.cluster_id = stopped.cluster_id
            and windows.owner = stopped.owner
            and windows.session_id <=> stopped.session_id
            and windows.expired_at = stopped.expired_at
    left join unheard
        on windows.cluster_id = unheard.cluster_id and windows.session_id = unheard.session_id
)

select * from final
