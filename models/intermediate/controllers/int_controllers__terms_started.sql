with controller_events as (
    select * from {{ ref('stg_logs__controller_events') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

-- Each record in which a node says that its term has just begun.
sentence as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind
    from controller_events
    where
        controller_epoch is not null
        and controller_id is not null
        and {{ has_role('controller_election') }}
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        quorum_epoch,
        quorum_leader_id,
        'metadata' as epoch_kind
    from quorum_events
    where
        quorum_epoch is not null
        and quorum_leader_id is not null
        and (
            {{ has_role('kraft_controller_activation') }}
            or ({{ has_role('quorum_state') }} and quorum_state like 'Leader%')
        )
),

final as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        epoch_kind
    from sentence
)

select * from final
