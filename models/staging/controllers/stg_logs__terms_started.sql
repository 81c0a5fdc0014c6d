with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

-- Each record in which a node says that its term has just begun; a leader of the quorum prints its own id, or none.
begun as (
    select
        {{ event_columns() }},
        if({{ has_role('controller_election') }}, 'controller', 'metadata') as epoch_kind,
        if(
            {{ has_role('controller_election') }},
            {{ field('controller_epoch', 'int') }},
            {{ field('quorum_epoch', 'int') }}
        ) as controller_epoch,
        case
            when {{ has_role('controller_election') }}
                then coalesce({{ field('controller', 'int') }}, node_id)
            when {{ has_role('kraft_controller_activation') }} then node_id
            else coalesce({{ field('quorum_leader', 'int') }}, node_id)
        end as controller_id,
        {{ field('epoch_start_offset', 'bigint') }} as epoch_start_offset
    from events
    -- All types stand together first, or Spark reads the events of every other type as well.
    where
        {{ has_role(['controller_election', 'kraft_controller_activation', 'quorum_state']) }}
        and (
            not ({{ has_role('quorum_state') }})
            or {{ field('quorum_state') }} like 'Leader%'
        )
),

final as (
    select *
    from begun
    where controller_epoch is not null and controller_id is not null
)

select * from final
