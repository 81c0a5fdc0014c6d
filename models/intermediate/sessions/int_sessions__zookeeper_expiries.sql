with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

-- By session: what ZooKeeper and its owner logged about its end.
by_session as (
    select
        cluster_id,
        session_id,
        min(case when {{ has_role('session_expiry') }} then logged_at end) as expired_at,
        min(case when {{ has_role('session_loss') }} then logged_at end) as lost_at,
        max(
            case
                when
                    {{ has_role('session_timeout') }}
                    then logged_at - make_dt_interval(0, 0, 0, elapsed_ms / 1000.0)
            end
        ) as last_contact_at,
        max(timeout_ms) as timeout_ms,
        {{ evidence(has_role(['session_expiry', 'session_loss', 'session_timeout'])) }}
            as evidence,
        count_if({{ has_role(['session_expiry', 'session_loss', 'session_timeout']) }})
            as evidence_count
    from session_events
    where session_id is not null
    group by cluster_id, session_id
),

final as (
    select
        by_session.cluster_id,
        owners.node_id,
        by_session.session_id,
        coalesce(by_session.timeout_ms, owners.timeout_ms) as timeout_ms,
        by_session.last_contact_at,
        by_session.expired_at,
        by_session.lost_at,
        owners.client_id,
        coalesce(owners.is_broker, false) as is_broker,
        by_session.evidence,
        by_session.evidence_count
    from by_session
    left join owners
        on by_session.cluster_id = owners.cluster_id and by_session.session_id = owners.session_id
    where by_session.expired_at is not null or by_session.lost_at is not null
)

select * from final
