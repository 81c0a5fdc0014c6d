with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

back as (
    select * from {{ ref('int_sessions__reconnections') }}
),

deaths as (
    select * from {{ ref('int_sessions__deaths') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
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
        coalesce(back.reconnected_at, ended.unfenced_at) as reconnected_at,
        deaths.run_number as dead_run_number,
        led.controller_epoch is not null as was_controller
    from ended
    left join back
        on
            ended.cluster_id = back.cluster_id
            and ended.owner = back.owner
            and ended.session_id <=> back.session_id
            and ended.expired_at = back.expired_at
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
