with stall_events as (
    select * from {{ ref('stg_logs__stall_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

holes as (
    select * from {{ ref('int_processes__log_silences') }}
),

-- ZooKeeper's next record about a session that its client gave up: a running server sees at once
-- that the connection is closed.
answers as (
    select
        clients.cluster_id,
        clients.session_id,
        clients.logged_at as given_up_at,
        clients.logged_at
        - make_dt_interval(0, 0, 0, clients.waited_ms / 1000.0) as last_contact_at,
        servers.node_id,
        servers.process_name,
        servers.event_type,
        servers.logged_at,
        servers.source_path,
        servers.byte_offset,
        row_number() over (
            partition by clients.cluster_id, clients.source_id, clients.byte_offset
            order by servers.logged_at, servers.source_path, servers.byte_offset
        ) as rank
    from stall_events as clients
    inner join stall_events as servers
        on
            clients.cluster_id = servers.cluster_id
            and clients.session_id = servers.session_id
            and {{ has_role('session_timeout', 'clients.event_type') }}
            and {{ has_role(['session_expiry', 'socket_closure'], 'servers.event_type') }}
            and clients.logged_at <= servers.logged_at
            and servers.logged_at < clients.logged_at + interval 10 minutes
),

-- An expiry is due at the end of the timeout, rounded up to the server's tick, which is at most half of it.
late as (
    select
        answers.*,
        holes.silent_from,
        holes.resumed_at
    from answers
    inner join owners
        on answers.cluster_id = owners.cluster_id and answers.session_id = owners.session_id
    inner join holes
        on
            answers.cluster_id = holes.cluster_id
            and answers.process_name = holes.process_name
            and answers.logged_at >= holes.resumed_at
            and answers.logged_at <= holes.resumed_at + interval 1 second
            and answers.given_up_at >= holes.silent_from
            and answers.given_up_at <= holes.resumed_at - interval 400 milliseconds
    where
        answers.rank = 1
        and (
            {{ has_role('socket_closure', 'answers.event_type') }}
            or unix_millis(answers.logged_at) - unix_millis(answers.last_contact_at)
            > owners.timeout_ms * 1.5
        )
),

by_session as (
    select
        cluster_id,
        process_name,
        resumed_at,
        session_id,
        max(silent_from) as silent_from,
        min(last_contact_at) as last_contact_at,
        min(struct(logged_at, source_path, byte_offset, node_id)) as answer
    from late
    group by cluster_id, process_name, resumed_at, session_id
),

-- A single client may have lost its own connection; if several did, the last one to hear from the server gives the start.
final as (
    select
        cluster_id,
        min(answer.node_id) as node_id,
        process_name,
        greatest(max(silent_from), max(last_contact_at)) as started_at,
        resumed_at as ended_at,
        min(answer).logged_at as logged_at,
        min(answer).source_path as source_path,
        min(answer).byte_offset as byte_offset
    from by_session
    group by cluster_id, process_name, resumed_at
    having count(*) >= 2
)

select * from final
