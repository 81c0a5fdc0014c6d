with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('quorum_state') }} as quorum_state,
        {{ field('quorum_epoch', 'int') }} as quorum_epoch,
        {{ field('new_quorum_epoch', 'int') }} as new_quorum_epoch,
        case
            when {{ has_role('kraft_controller_activation') }} then node_id
            -- A leader prints its own id; in a release that does not print it, the writer is the
            -- leader.
            when
                {{ field('quorum_state') }} like 'Leader%'
                then coalesce({{ field('quorum_leader', 'int') }}, node_id)
            else nullif({{ field('quorum_leader', 'int') }}, -1)
        end as quorum_leader_id,
        coalesce(
            {{ has_role('kraft_controller_resignation') }}
            or ({{ has_role('quorum_state') }} and {{ field('quorum_state') }} not like 'Leader%'),
            false
        ) as is_resignation
    from events
    where
        {{ has_role([
            'quorum_state',
            'quorum_leader',
            'kraft_controller_activation',
            'kraft_controller_resignation',
            'kraft_controller_renewal',
        ]) }}
)

select * from final
