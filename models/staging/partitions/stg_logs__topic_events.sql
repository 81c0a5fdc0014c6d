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
        {{ has_role([
            'topic_creation',
            'topic_deletion',
            'partition_creation',
            'partition_state',
            'partition_leader_change',
            'leader_start',
            'follower_start',
        ]) }}
)

select * from final
