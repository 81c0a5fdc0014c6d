with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

back as (
    select * from {{ ref('int_sessions__reconnections') }}
),

terms as (
    select *
    from {{ ref('int_controllers__terms_led') }}
    where not is_written_over
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

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

registrations as (
    select *
    from {{ ref('stg_logs__registration_events') }}
    where {{ has_role('registration_grant') }}
),

-- A process that was stalled when the session expired, and then continued, was not dead.
waiting as (
    select ended.*
    from ended
    left anti join stops
        on
            ended.cluster_id = stops.cluster_id
            and stops.process_name = concat('node ', ended.node_id)
            and ended.expired_at > stops.started_at
            and ended.expired_at < stops.ended_at
),

-- A session is that of the process which established it, or registered last with the KRaft controller.
begun as (
    select
        waiting.cluster_id,
        waiting.node_id,
        waiting.owner,
        waiting.session_id,
        waiting.expired_at,
        waiting.noticed_at,
        waiting.timeout_ms,
        coalesce(max(owners.established_at), max(registrations.logged_at)) as begun_at
    from waiting
    left join owners
        on waiting.cluster_id = owners.cluster_id and waiting.session_id = owners.session_id
    left join registrations
        on
            waiting.session_kind = 'kraft_broker'
            and waiting.cluster_id = registrations.cluster_id
            and waiting.node_id = registrations.node_id
            and waiting.expired_at > registrations.logged_at
    group by all
),

-- If that is not known, it is the last that may have ended before the expiry.
holders as (
    select
        begun.cluster_id,
        begun.node_id,
        begun.owner,
        begun.session_id,
        begun.expired_at,
        begun.timeout_ms,
        if(
            max(begun.begun_at) is null,
            max(runs.run_number) filter (
                where runs.stopped_at is null and begun.expired_at >= runs.last_seen_at
            ),
            min(runs.run_number)
        ) as run_number
    from begun
    inner join runs
        on
            begun.cluster_id = runs.cluster_id
            and begun.node_id = runs.node_id
            and begun.expired_at > coalesce(runs.started_at, runs.first_seen_at)
            and coalesce(begun.begun_at <= runs.last_seen_at, true)
    where begun.noticed_at is null
    group by
        begun.cluster_id,
        begun.node_id,
        begun.owner,
        begun.session_id,
        begun.expired_at,
        begun.timeout_ms
),

-- A process that ended without a shutdown before its session expired is the cause.
deaths as (
    select
        holders.*,
        runs.node_run_key
    from holders
    inner join runs
        on
            holders.cluster_id = runs.cluster_id
            and holders.node_id = runs.node_id
            and holders.run_number = runs.run_number
            and runs.stopped_at is null
            and holders.expired_at >= runs.last_seen_at
            and coalesce(runs.next_started_at, timestamp '9999-01-01 00:00:00') > runs.last_seen_at
    where
        runs.next_started_at is null
        -- A session expires at the server's next tick; its timeout is at least two of them.
        or holders.expired_at
        < runs.next_started_at
        + make_dt_interval(0, 0, 0, coalesce(holders.timeout_ms, 60000) * 1.5 / 1000.0)
),

-- Whose term lasted until the session ended: until the next election or its own resignation, and not
-- beyond its process, whose last session expires after it.
led as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        max(terms.controller_epoch) as controller_epoch
    from ended
    inner join terms
        on
            ended.cluster_id = terms.cluster_id
            and ended.cluster_incarnation = terms.cluster_incarnation
            and ended.node_id = terms.controller_id
            and if(ended.session_kind = 'kraft_broker', 'metadata', 'controller') = terms.epoch_kind
            and ended.expired_at > terms.known_since_at
            and (
                terms.superseded_at is null
                or terms.superseded_at >= ended.expired_at - interval 1 second
            )
            and (
                terms.resigned_at is null
                or terms.resigned_at >= ended.expired_at - interval 1 second
            )
            and (
                terms.next_started_at is null
                or ended.expired_at
                < terms.next_started_at
                + make_dt_interval(0, 0, 0, coalesce(ended.timeout_ms, 60000) * 1.5 / 1000.0)
            )
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

-- Who else was controller then: the last term that is known before. If an epoch behind it is missing, nobody knows who had that one.
terms_in_order as (
    select
        cluster_id,
        cluster_incarnation,
        known_since_at,
        controller_epoch,
        epoch_kind = 'controller'
        and lead(controller_epoch) over (
            partition by cluster_id, cluster_incarnation, epoch_kind
            order by controller_epoch
        ) > controller_epoch + 1 as is_next_missing
    from terms
),

terms_known as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        not coalesce(
            max_by(
                terms_in_order.is_next_missing,
                struct(terms_in_order.known_since_at, terms_in_order.controller_epoch)
            ),
            false
        ) as is_controller_known
    from ended
    inner join terms_in_order
        on
            ended.cluster_id = terms_in_order.cluster_id
            and ended.cluster_incarnation = terms_in_order.cluster_incarnation
            and ended.expired_at > terms_in_order.known_since_at
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

-- One row per expired session of int_sessions__ended. Clients are never controller.
sessions as (
    select
        ended.* except (unfenced_evidence),
        coalesce(back.reconnected_at, ended.unfenced_at) as reconnected_at,
        if(back.reconnected_at is null, ended.unfenced_evidence, back.end_evidence) as end_evidence,
        coalesce(back.is_back_before, false) as is_back_before,
        deaths.run_number as dead_run_number,
        deaths.node_run_key as dead_run_key,
        case
            when led.controller_epoch is not null then true
            when ended.session_kind not in ('zookeeper_broker', 'kraft_broker') then false
            when terms_known.is_controller_known then false
        end as was_controller
    from ended
    left join back
        on
            ended.cluster_id = back.cluster_id
            and ended.owner = back.owner
            and ended.session_id <=> back.session_id
            and ended.expired_at = back.expired_at
    left join deaths
        on
            ended.cluster_id = deaths.cluster_id
            and ended.owner = deaths.owner
            and ended.session_id <=> deaths.session_id
            and ended.expired_at = deaths.expired_at
    left join led
        on
            ended.cluster_id = led.cluster_id
            and ended.owner = led.owner
            and ended.session_id <=> led.session_id
            and ended.expired_at = led.expired_at
    left join terms_known
        on
            ended.cluster_id = terms_known.cluster_id
            and ended.owner = terms_known.owner
            and ended.session_id <=> terms_known.session_id
            and ended.expired_at = terms_known.expired_at
),

-- A cause overlaps the time from the last contact to the expiry; if the last contact is unknown,
-- one and a half timeouts before the expiry (it is due at the server's next tick), or 15 seconds if
-- the timeout is unknown.
windows as (
    select
        sessions.*,
        coalesce(owners.has_several_clients, false) as has_several_clients,
        owners.session_id is not null and owners.established_at is null as is_begin_missing,
        coalesce(
            sessions.last_contact_at,
            sessions.expired_at
            - make_dt_interval(0, 0, 0, coalesce(sessions.timeout_ms, 10000) * 1.5 / 1000)
        ) as since_at,
        -- The client's pings leave a third of the timeout: a process that stops for half of it is
        -- too late.
        coalesce(sessions.timeout_ms, 6000) div 2 as min_standstill_ms
    from sessions
    left join owners
        on sessions.cluster_id = owners.cluster_id and sessions.session_id = owners.session_id
),

stopped as (
    select
        windows.*,
        min(
            struct(
                windows.expired_at > stops.ended_at as is_over,
                case
                    when windows.owner = stops.owner and windows.node_id <=> stops.node_id
                        then stops.cause_rank
                    when windows.session_id is not null then 3
                    else 4
                end as cause_rank,
                stops.started_at,
                stops.cause_key
            )
        ) filter (where stops.started_at is not null) as stop
    from windows
    left join stops
        on
            windows.cluster_id = stops.cluster_id
            and windows.expired_at > stops.started_at
            and windows.since_at < stops.ended_at
            and unix_millis(stops.ended_at) - unix_millis(stops.started_at)
            >= windows.min_standstill_ms
            and (
                (windows.owner = stops.owner and windows.node_id <=> stops.node_id)
                -- A stalled server expires sessions of clients that could not reach it.
                or (windows.session_id is not null and contains(stops.process_name, 'zookeeper'))
                -- So does a stalled controller as soon as it continues.
                or (
                    windows.session_kind = 'kraft_broker'
                    and windows.evidence[0].node_id = stops.node_id
                    and windows.expired_at >= stops.ended_at
                    and windows.expired_at <= stops.ended_at + interval 1 second
                )
            )
    group by all
),

-- Sessions whose client logs that it hears nothing from the server.
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
        stopped.* except (stop),
        stopped.stop.cause_rank,
        stopped.stop.cause_key as stop_key,
        unheard.session_id is not null as is_server_silent
    from stopped
    left join unheard
        on stopped.cluster_id = unheard.cluster_id and stopped.session_id = unheard.session_id
)

select * from final
