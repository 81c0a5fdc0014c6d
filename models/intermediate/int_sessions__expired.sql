with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

-- By session: what ZooKeeper said of its end, and what its owner did.
by_session as (
    select
        cluster_id,
        session_id,
        min(case when event_type = 'session_expired' then logged_at end) as expired_at,
        min(case when event_type = 'session_lost' then logged_at end) as lost_at,
        max(
            case
                when
                    event_type = 'session_timed_out'
                    then logged_at - make_dt_interval(0, 0, 0, elapsed_ms / 1000.0)
            end
        ) as last_contact_at,
        max(timeout_ms) as timeout_ms,
        {{ evidence("event_type in ('session_expired', 'session_lost', 'session_timed_out')") }}
            as evidence,
        count_if(event_type in ('session_expired', 'session_lost', 'session_timed_out'))
            as evidence_count
    from session_events
    where session_id is not null
    group by cluster_id, session_id
),

ended as (
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
),

-- Up to 0.10.2 server.log has no line of the ZooKeeper client: that the broker registers anew is then all that it says.
noticed as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        lag(logged_at)
            over (partition by cluster_id, node_id order by logged_at, byte_offset)
            as previous_at
    from session_events
    where
        node_id is not null
        and (
            event_type in ('session_expired_noticed', 'broker_reregistering')
            or (event_type = 'zookeeper_state_changed' and session_state = 'Expired')
        )
),

unnamed as (
    select
        noticed.cluster_id,
        noticed.node_id,
        noticed.logged_at,
        noticed.source_path,
        noticed.byte_offset
    from noticed
    left anti join ended
        on
            noticed.cluster_id = ended.cluster_id
            and noticed.node_id = ended.node_id
            and noticed.logged_at >= coalesce(ended.expired_at, ended.lost_at) - interval 10 seconds
            and noticed.logged_at
            <= coalesce(ended.lost_at, ended.expired_at + interval 10 minutes) + interval 10 seconds
    where
        noticed.previous_at is null or noticed.logged_at > noticed.previous_at + interval 5 seconds
),

final as (
    select
        cluster_id,
        node_id,
        client_id,
        session_id,
        timeout_ms,
        last_contact_at,
        expired_at,
        lost_at,
        is_broker,
        evidence,
        evidence_count
    from ended
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as client_id,
        cast(null as string) as session_id,
        cast(null as bigint) as timeout_ms,
        cast(null as timestamp) as last_contact_at,
        cast(null as timestamp) as expired_at,
        logged_at as lost_at,
        true as is_broker,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence,
        cast(1 as bigint) as evidence_count
    from unnamed
)

select * from final
