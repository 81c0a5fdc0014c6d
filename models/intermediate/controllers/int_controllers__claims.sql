with terms as (
    select * from {{ ref('int_controllers__terms_started') }}
),

controller_events as (
    select * from {{ ref('stg_logs__controller_events') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

partition_claims as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Every line that names a controller together with its epoch; those of the elected node itself come first.
said as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        epoch_kind,
        1 as trust
    from terms
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        2 as trust
    from controller_events
    where
        event_type = 'controller_ready'
        and controller_epoch is not null
        and controller_id is not null
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        quorum_epoch,
        quorum_leader_id,
        'metadata' as epoch_kind,
        3 as trust
    from quorum_events
    where
        quorum_epoch is not null
        and quorum_leader_id is not null
        and event_type in ('quorum_state_changed', 'quorum_leader_observed')
        and coalesce(quorum_state, '') not like 'Leader%'
    union all
    -- A request names its sender, but a copy of the state in it may be older than the sender's own term.
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        4 as trust
    from partition_claims
    where
        event_type = 'partition_leader_changed'
        and controller_epoch > 0
        and controller_id is not null
),

final as (
    {{ placed('said') }}
)

select * from final
