{{ config(materialized='table') }}

with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

writers as (
    select * from {{ ref('int_sessions__owner_records') }}
),

controllers as (
    select * from {{ ref('int_sessions__controllers') }}
),

-- Of several files of a process, one that says who it belongs to comes first.
owned as (
    select
        cluster_id,
        session_id,
        max(node_id) as node_id,
        min_by(
            struct(
                process_name,
                if(node_id is null, owner, null) as client_id,
                has_several_clients
            ),
            struct(node_id is null, startswith(process_name, owner), process_name)
        ) filter (where process_name is not null) as writer,
        max(timeout_ms) as timeout_ms,
        min(case when {{ has_role('session_start') }} then logged_at end) as established_at,
        max(case when {{ has_role('session_znode') }} then 1 else 0 end) = 1 as has_znode
    from writers
    group by cluster_id, session_id
),

-- The server says the timeout of a session that it ends, whatever its client's log lacks.
negotiated as (
    select
        cluster_id,
        session_id,
        max(timeout_ms) as timeout_ms,
        slice({{ evidence(has_role('session_start')) }}, 1, 1) as established_evidence
    from session_events
    where session_id is not null
    group by cluster_id, session_id
),

followed as (
    select
        owned.* except (timeout_ms),
        coalesce(owned.timeout_ms, negotiated.timeout_ms) as timeout_ms,
        negotiated.established_evidence,
        lead(owned.established_at) over (
            partition by owned.cluster_id, owned.node_id
            order by owned.established_at, owned.session_id
        ) as next_established_at
    from owned
    left join negotiated
        on
            owned.cluster_id = negotiated.cluster_id
            and owned.session_id = negotiated.session_id
),

-- A broker that finds its old znode still there waits, and may lose its new session before it has registered with it:
-- the cluster never saw that session as the broker's.
final as (
    select
        followed.cluster_id,
        followed.session_id,
        followed.node_id,
        followed.writer.process_name,
        followed.writer.client_id,
        coalesce(followed.writer.has_several_clients, false) as has_several_clients,
        followed.timeout_ms,
        followed.established_at,
        followed.established_evidence,
        followed.node_id is not null
        and count(controllers.node_id) = 0
        and (
            followed.has_znode
            or followed.established_at is null
            or count(registrations.logged_at) = 0
            or count_if(
                registrations.logged_at >= followed.established_at
                and (
                    followed.next_established_at is null
                    or registrations.logged_at < followed.next_established_at
                )
            )
            > 0
        ) as is_broker,
        count(controllers.node_id) > 0 as is_controller
    from followed
    left join controllers
        on
            followed.cluster_id = controllers.cluster_id
            and followed.node_id = controllers.node_id
    left join session_events as registrations
        on
            followed.cluster_id = registrations.cluster_id
            and followed.node_id = registrations.node_id
            and {{ has_role('broker_znode', 'registrations.event_type') }}
    group by
        followed.cluster_id,
        followed.session_id,
        followed.node_id,
        followed.writer,
        followed.timeout_ms,
        followed.established_at,
        followed.established_evidence,
        followed.has_znode
)

select * from final
