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
        expired.*,
        max(removals.logged_at) as removed_at
    from expired
    left join removals
        on
            expired.expired_at is null
            and expired.cluster_id = removals.cluster_id
            and expired.node_id = removals.broker_id
            and removals.logged_at <= expired.lost_at + interval 1 second
            and removals.logged_at
            >= coalesce(expired.last_contact_at, expired.lost_at - interval 1 minute)
    group by all
),

final as (
    select
        cluster_id,
        node_id,
        client_id,
        session_id,
        timeout_ms,
        last_contact_at,
        lost_at,
        is_broker,
        is_controller,
        is_end_doubtful,
        evidence,
        evidence_count,
        expired_at is not null as is_end_logged,
        coalesce(
            expired_at,
            removed_at,
            least(
                last_contact_at + make_dt_interval(0, 0, 0, timeout_ms / 1000.0),
                lost_at
            ),
            lost_at
        ) as expired_at
    from removed
)

select * from final
