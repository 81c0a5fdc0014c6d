with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('quorum_epoch', 'int') }} as quorum_epoch,
        {{ field('vote') }} as vote
    from events
    where
        {{ has_role(['quorum_election_failure', 'quorum_fetch_timeout', 'quorum_vote']) }}
        -- In a vote about whether to begin an election (KIP-996) the epoch stays.
        and coalesce({{ field('pre_vote') }}, 'false') = 'false'
)

select * from final
