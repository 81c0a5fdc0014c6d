with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

expiry_lines as (
    select * from {{ ref('int_sessions__expiry_lines') }}
),

contacts as (
    select * from {{ ref('int_sessions__contacts') }}
),

-- What the server and the client log about the end of a session. A client that goes on with its session proves that it did not end.
lines as (
    select
        expiry_lines.cluster_id,
        expiry_lines.session_id,
        expiry_lines.node_id,
        expiry_lines.logged_at,
        expiry_lines.source_path,
        expiry_lines.byte_offset,
        'expired' as line_kind,
        expiry_lines.is_doubtful
    from expiry_lines
    left join contacts
        on
            expiry_lines.cluster_id = contacts.cluster_id
            and expiry_lines.session_id = contacts.session_id
    where
        not expiry_lines.is_doubtful
        or contacts.last_established_at is null
        or contacts.last_established_at <= expiry_lines.logged_at
    union all
    select
        cluster_id,
        session_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        if({{ has_role('session_loss') }}, 'lost', 'silent') as line_kind,
        false as is_doubtful
    from session_events
    where session_id is not null and {{ has_role(['session_loss', 'session_timeout']) }}
),

-- A session ends once. A leader that cannot store an expiry leaves it to the next one: the last counts.
by_session as (
    select
        cluster_id,
        session_id,
        max(if(line_kind = 'expired', logged_at, null)) as expired_at,
        min(if(line_kind = 'lost', logged_at, null)) as lost_at,
        max_by(is_doubtful, struct(logged_at, source_path, byte_offset))
        filter (where line_kind = 'expired') as is_end_doubtful,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from lines
    group by cluster_id, session_id
),

final as (
    select
        by_session.cluster_id,
        owners.node_id,
        by_session.session_id,
        coalesce(contacts.timeout_ms, owners.timeout_ms) as timeout_ms,
        contacts.last_contact_at,
        by_session.expired_at,
        by_session.lost_at,
        owners.client_id,
        coalesce(owners.is_broker, false) as is_broker,
        coalesce(owners.is_controller, false) as is_controller,
        coalesce(by_session.is_end_doubtful and by_session.lost_at is null, false)
            as is_end_doubtful,
        by_session.evidence,
        by_session.evidence_count
    from by_session
    left join contacts
        on
            by_session.cluster_id = contacts.cluster_id
            and by_session.session_id = contacts.session_id
    left join owners
        on by_session.cluster_id = owners.cluster_id and by_session.session_id = owners.session_id
    where by_session.expired_at is not null or by_session.lost_at is not null
)

select * from final
