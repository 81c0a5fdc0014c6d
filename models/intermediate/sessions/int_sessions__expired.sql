with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

reported as (
    select * from {{ ref('int_sessions__zookeeper_expiries') }}
),

controllers as (
    select * from {{ ref('int_sessions__controllers') }}
),

-- Up to 0.10.2 server.log has no records of the ZooKeeper client: the broker's new registration is the only sign.
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
            {{ has_role('session_expiry_notice') }}
            or ({{ has_role('session_state') }} and session_state = 'Expired')
        )
),

unnamed as (
    select
        noticed.cluster_id,
        noticed.node_id,
        noticed.logged_at,
        noticed.source_path,
        noticed.byte_offset,
        controllers.node_id is not null as is_controller
    from noticed
    left join controllers
        on noticed.cluster_id = controllers.cluster_id and noticed.node_id = controllers.node_id
    left anti join reported
        on
            noticed.cluster_id = reported.cluster_id
            and noticed.node_id = reported.node_id
            and noticed.logged_at
            >= coalesce(reported.expired_at, reported.lost_at) - interval 10 seconds
            and noticed.logged_at
            <= coalesce(reported.lost_at, reported.expired_at + interval 10 minutes)
            + interval 10 seconds
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
        is_controller,
        is_end_doubtful,
        evidence,
        evidence_count
    from reported
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
        not is_controller as is_broker,
        is_controller,
        false as is_end_doubtful,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence,
        cast(1 as bigint) as evidence_count
    from unnamed
)

select * from final
