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
        {{ field('state_after') }} as state_after
    from events
    where
        event_type in (
            'topic_created',
            'topic_deleted',
            'partition_created',
            'partition_state_changed',
            'partition_leader_changed',
            'leader_started',
            'follower_started'
        )
)

select * from final
