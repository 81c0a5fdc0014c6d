with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

deaths as (
    select * from {{ ref('int_sessions__deaths') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
),

-- The owner is back with its next session.
reconnected as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        min(session_events.logged_at) as reconnected_at
    from ended
    inner join session_events
        on
            ended.cluster_id = session_events.cluster_id
            and ended.node_id = session_events.node_id
            and session_events.event_type in ('session_established', 'broker_registered')
            and ended.expired_at < session_events.logged_at
            and coalesce(session_events.session_id, '') <> coalesce(ended.session_id, '-')
    where ended.session_kind = 'zookeeper_broker'
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

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
            and ended.expired_at > terms.elected_at
            and (
                terms.superseded_at is null
                or terms.superseded_at >= ended.expired_at - interval 1 second
            )
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
),

final as (
    select
        ended.*,
        coalesce(reconnected.reconnected_at, ended.unfenced_at) as reconnected_at,
        deaths.run_number as dead_run_number,
        led.controller_epoch is not null as was_controller
    from ended
    left join reconnected
        on
            ended.cluster_id = reconnected.cluster_id
            and ended.owner = reconnected.owner
            and ended.session_id <=> reconnected.session_id
            and ended.expired_at = reconnected.expired_at
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
)

select * from final
