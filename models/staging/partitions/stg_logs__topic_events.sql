with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce(topic_name, {{ field('topic') }}) as topic_name,
        partition_id,
        {{ field('topic_id') }} as topic_id,
        {{ field('state_before') }} as state_before,
        {{ field('state_after') }} as state_after,
        -- What a controller that moves replicas names besides is what it is about to do.
        case
            when {{ has_role('reassignment') }} then {{ field('assigned_replicas', 'array<int>') }}
            else {{ field('replicas', 'array<int>') }}
        end as replicas
    from events
    where
        {{ has_role([
            'topic_creation',
            'topic_deletion',
            'partition_creation',
            'partition_state',
            'reassignment',
            'partition_leader_change',
            'leader_start',
            'follower_start',
        ]) }}
)

select * from final
