with registration_events as (
    select * from {{ ref('stg_logs__registration_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
),

claims as (
    select
        registration_events.cluster_id,
        incarnations.cluster_incarnation,
        registration_events.broker_id,
        registration_events.node_id,
        registration_events.logged_at,
        registration_events.source_path,
        registration_events.byte_offset,
        max_by(terms.controller_id, terms.controller_epoch) as leader_then_id
    from registration_events
    inner join incarnations
        on
            registration_events.cluster_id = incarnations.cluster_id
            and registration_events.logged_at >= incarnations.valid_from
            and registration_events.logged_at < incarnations.valid_to
    left join terms
        on
            registration_events.cluster_id = terms.cluster_id
            and incarnations.cluster_incarnation = terms.cluster_incarnation
            and registration_events.logged_at >= terms.elected_at
    where registration_events.event_type = 'broker_fenced'
    group by
        registration_events.cluster_id,
        incarnations.cluster_incarnation,
        registration_events.broker_id,
        registration_events.node_id,
        registration_events.logged_at,
        registration_events.source_path,
        registration_events.byte_offset
),

-- A controller that was frozen says that brokers time out before it learns that its term is over: nothing was fenced.
final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        leader_then_id is null or node_id is null or leader_then_id = node_id as is_by_leader
    from claims
)

select * from final
