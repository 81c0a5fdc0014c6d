with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('topic_id') }} as topic_id,
        upper({{ field('election_type') }}) as election_type,
        {{ field('leader', 'int') }} as leader_id,
        coalesce(
            {{ field('leader_epoch', 'int') }}, {{ field('previous_leader_epoch', 'int') }} + 1
        ) as leader_epoch,
        if({{ has_role('own_leaders_handover') }}, node_id, {{ field('broker', 'int') }})
            as broker_id
    from events
    where
        {{ has_role([
            'election_start',
            'preferred_election_start',
            'preferred_election_end',
            'unclean_election',
            'eligible_election',
            'reassignment',
            'shutdown_request',
            'own_leaders_handover',
            'log_creation',
        ]) }}
)

select * from final
