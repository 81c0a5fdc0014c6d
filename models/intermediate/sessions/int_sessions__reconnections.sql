with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

owner_records as (
    select * from {{ ref('int_sessions__owner_records') }}
),

membership_events as (
    select * from {{ ref('stg_logs__membership_events') }}
),

-- A node is back with its next session.
next_of_nodes as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        max(ended.noticed_at) as noticed_at,
        min(
            struct(
                session_events.logged_at,
                session_events.node_id,
                session_events.source_path,
                session_events.byte_offset
            )
        ) as beginning
    from ended
    inner join session_events
        on
            ended.cluster_id = session_events.cluster_id
            and ended.node_id = session_events.node_id
            and {{ has_role(['session_start', 'broker_znode'], 'session_events.event_type') }}
            and ended.expired_at < session_events.logged_at
            and coalesce(session_events.session_id, '') <> coalesce(ended.session_id, '-')
    where ended.session_kind in ('zookeeper_broker', 'zookeeper_controller')
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

brokers as (
    select
        * except (beginning),
        beginning.logged_at as reconnected_at,
        array(struct(beginning.node_id, beginning.source_path, beginning.byte_offset))
            as end_evidence
    from next_of_nodes
),

-- Other signs that a node is back: the controller finds it, or a session whose beginning the logs lack.
signs as (
    select
        cluster_id,
        explode(brokers_added) as node_id,
        logged_at as back_at
    from membership_events
    where {{ has_role('live_brokers') }}
    union all
    select
        owner_records.cluster_id,
        owners.node_id,
        min(owner_records.logged_at) as back_at
    from owner_records
    inner join owners
        on
            owner_records.cluster_id = owners.cluster_id
            and owner_records.session_id = owners.session_id
            and owners.node_id is not null
            and owners.established_at is null
    group by owner_records.cluster_id, owner_records.session_id, owners.node_id
),

back_before as (
    select
        brokers.cluster_id,
        brokers.owner,
        brokers.session_id,
        brokers.expired_at
    from brokers
    inner join signs
        on
            brokers.cluster_id = signs.cluster_id
            and brokers.owner = cast(signs.node_id as string)
            and coalesce(brokers.noticed_at, brokers.expired_at) < signs.back_at
            and brokers.reconnected_at > signs.back_at + interval 1 minute
    group by brokers.cluster_id, brokers.owner, brokers.session_id, brokers.expired_at
),

-- A client is back with the next session of its process. After a restart that session may begin
-- before the old one expired, but not before the old one could begin to time out.
clients as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        min(next_sessions.established_at) as reconnected_at,
        min_by(
            next_sessions.established_evidence,
            struct(next_sessions.established_at, next_sessions.session_id)
        ) as end_evidence
    from ended
    inner join owners
        on ended.cluster_id = owners.cluster_id and ended.session_id = owners.session_id
    inner join owners as next_sessions
        on
            owners.cluster_id = next_sessions.cluster_id
            and owners.process_name = next_sessions.process_name
            and owners.session_id <> next_sessions.session_id
            and coalesce(
                ended.last_contact_at,
                ended.expired_at - make_dt_interval(0, 0, 0, coalesce(ended.timeout_ms, 0) / 1000.0)
            )
            < next_sessions.established_at
            and coalesce(owners.established_at < next_sessions.established_at, true)
    where ended.session_kind = 'zookeeper_client'
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

final as (
    select
        brokers.* except (noticed_at),
        back_before.cluster_id is not null as is_back_before
    from brokers
    left join back_before
        on
            brokers.cluster_id = back_before.cluster_id
            and brokers.owner = back_before.owner
            and brokers.session_id <=> back_before.session_id
            and brokers.expired_at = back_before.expired_at
    union all
    select
        *,
        false as is_back_before
    from clients
)

select * from final
