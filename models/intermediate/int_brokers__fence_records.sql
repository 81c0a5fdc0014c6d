with registration_events as (
    select * from {{ ref('stg_logs__registration_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

placed as (
    {{ placed('registration_events') }}
    where
        registration_events.event_type in (
            'broker_registration_changed', 'broker_fenced_record', 'broker_unfenced_record'
        )
),

records as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        is_fencing,
        is_unfencing,
        min(case when is_leaving then logged_at end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
        ) as leaving_at
    from placed
),

-- Every controller replays every record, and again after each of its starts: a fencing is new where the line before it,
-- of any controller, is not one.
compared as (
    select
        *,
        lag(is_fencing) over (registration) as was_fencing,
        sum(case when is_fencing then 1 else 0 end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
            order by logged_at, node_id, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as fencings_before
    from records
    where (is_fencing and (leaving_at is null or logged_at < leaving_at)) or is_unfencing
    window registration as (
        partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
        order by logged_at, node_id, byte_offset
    )
),

-- A replay of old records looks like a second fencing: only one that a controller has announced is real.
final as (
    select
        compared.cluster_id,
        compared.cluster_incarnation,
        compared.broker_id,
        compared.broker_epoch,
        compared.node_id,
        compared.logged_at,
        compared.source_path,
        compared.byte_offset
    from compared
    left join claims
        on
            compared.cluster_id = claims.cluster_id
            and compared.cluster_incarnation = claims.cluster_incarnation
            and compared.broker_id = claims.broker_id
            and claims.logged_at >= compared.logged_at - interval 5 seconds
            and claims.logged_at <= compared.logged_at + interval 2 seconds
            and claims.is_by_leader
    where compared.is_fencing and not coalesce(compared.was_fencing, false)
    group by
        compared.cluster_id,
        compared.cluster_incarnation,
        compared.broker_id,
        compared.broker_epoch,
        compared.node_id,
        compared.logged_at,
        compared.source_path,
        compared.byte_offset,
        compared.fencings_before
    having coalesce(compared.fencings_before, 0) = 0 or count(claims.logged_at) > 0
)

select * from final
