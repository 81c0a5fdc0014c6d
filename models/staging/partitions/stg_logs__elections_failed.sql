with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('state_before') }} as state_before
    from events
    where
        {{ has_role('leader_election_failure') }}
        and topic_name is not null
        and partition_id is not null
        -- A partition that is online keeps its leader if another cannot be elected.
        and coalesce({{ field('state_before') }}, 'Offline')
        in ('OfflinePartition', 'Offline', 'NewPartition', 'New')
)

select * from final
