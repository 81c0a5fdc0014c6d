with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce({{ field('controller', 'int') }}, node_id) as controller_id,
        {{ field('controller_epoch', 'int') }} as controller_epoch
    from events
    where
        {{ has_role([
            'controller_election',
            'controller_readiness',
            'controller_resignation',
            'controller_loss',
            'leader_election_failure',
            'controller_term_statement',
        ]) }}
)

select * from final
