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
        case
            when {{ has_role('kraft_controller_resignation') }}
                then {{ field('quorum_epoch', 'int') }}
            when {{ field('quorum_state') }} like 'Leader%' then null
            -- From 3.5 on a state names the one before it; a process that starts left none.
            when {{ field('left_quorum_state') }} is not null
                then
                    case
                        when {{ field('left_quorum_state') }} like 'Leader%'
                            then {{ field('left_quorum_epoch', 'int') }}
                    end
            when {{ field('quorum_state') }} like 'Resigned%'
                then {{ field('quorum_epoch', 'int') }}
            -- Of the leader's states only these are entered with a new epoch.
            when
                {{ field('quorum_state') }} like 'Unattached%'
                or {{ field('quorum_state') }} like 'Follower%'
                then {{ field('quorum_epoch', 'int') }} - 1
        end as resigned_epoch,
        coalesce({{ field('left_quorum_state') }} like 'Leader%', false) as is_leader_left,
        coalesce({{ field('left_quorum_state') }} like 'Follower%', false) as is_follower_left,
        -- A log that was replaced by a snapshot (then the line has an epoch) is not cut back.
        case
            when {{ has_role('quorum_truncation') }} and {{ field('log_epoch', 'int') }} is null
                then {{ field('to_offset', 'bigint') }}
        end as truncated_to
    from events
    where
        {{ has_role([
            'quorum_state',
            'quorum_leader',
            'kraft_controller_activation',
            'kraft_controller_resignation',
            'kraft_controller_renewal',
            'quorum_truncation',
        ]) }}
)

select * from final
