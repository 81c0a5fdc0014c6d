with expired as (
    select * from {{ ref('int_sessions__expired') }}
),

membership_events as (
    select * from {{ ref('stg_logs__membership_events') }}
),

-- Without ZooKeeper's own log, the controller's record that the broker is gone is the closest to
-- the expiry; without that, the last contact plus the timeout.
removals as (
    select
        cluster_id,
        explode(brokers_deleted) as broker_id,
        logged_at
    from membership_events
    where {{ has_role('live_brokers') }}
),

removed as (
    select
        expired.cluster_id,
        expired.node_id,
        expired.session_id,
        expired.lost_at,
        max(removals.logged_at) as removed_at
    from expired
    inner join removals
        on
            expired.cluster_id = removals.cluster_id
            and expired.node_id = removals.broker_id
            and removals.logged_at <= expired.lost_at + interval 1 second
            and removals.logged_at
            >= coalesce(expired.last_contact_at, expired.lost_at - interval 1 minute)
    where expired.expired_at is null
    group by expired.cluster_id, expired.node_id, expired.session_id, expired.lost_at
),

final as (
    select
        expired.cluster_id,
        expired.node_id,
        expired.client_id,
        expired.session_id,
        expired.timeout_ms,
        expired.last_contact_at,
        expired.lost_at,
        expired.is_broker,
        expired.is_controller,
        expired.is_end_doubtful,
        expired.evidence,
        expired.evidence_count,
        expired.expired_at is not null as is_end_logged,
        coalesce(
            expired.expired_at,
            removed.removed_at,
            least(
                expired.last_contact_at + make_dt_interval(0, 0, 0, expired.timeout_ms / 1000.0),
                expired.lost_at
            ),
            expired.lost_at
        ) as expired_at
    from expired
    left join removed
        on
            expired.cluster_id = removed.cluster_id
            and expired.node_id = removed.node_id
            and expired.session_id <=> removed.session_id
            and expired.lost_at = removed.lost_at
)

select * from final
