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
        {{ field('leader', 'int') }} as leader_id
    from events
    where
        event_type in (
            'election_started',
            'preferred_election_started',
            'preferred_election_completed',
            'unclean_leader_elected',
            'eligible_leader_elected',
            'unclean_partition_changed',
            'partition_recovering_noticed',
            'reassignment_advanced',
            'reassignment_completed_by_kraft'
        )
)

select * from final
