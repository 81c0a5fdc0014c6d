with registration_events as (
    select * from {{ ref('stg_logs__registration_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
),

stale_terms as (
    select * from {{ ref('int_controllers__stale_terms') }}
),

placed as (
    {{ placed('registration_events') }}
    where {{ has_role(['fencing_claim', 'fencing_grant'], 'registration_events.event_type') }}
),

claims as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.event_type,
        placed.broker_id,
        placed.broker_epoch,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset,
        max_by(terms.controller_id, terms.controller_epoch) as leader_then_id,
        max(stale_terms.controller_epoch) is not null as is_stale
    from placed
    left join stale_terms on {{ in_stale_term('placed') }}
    left join terms
        on
            placed.cluster_id = terms.cluster_id
            and placed.cluster_incarnation = terms.cluster_incarnation
            and placed.logged_at >= terms.known_since_at
            and terms.epoch_kind = 'metadata'
    group by
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.event_type,
        placed.broker_id,
        placed.broker_epoch,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset
),

-- A controller that was frozen logs that brokers time out before it learns that its term is over:
-- nothing was fenced.
final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        not is_stale and (leader_then_id is null or node_id is null or leader_then_id = node_id)
            as is_by_leader,
        {{ has_role('fencing_grant') }} as is_asked
    from claims
)

select * from final
