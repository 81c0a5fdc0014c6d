with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('broker', 'int') }} as broker_id
    from events
    where
        {{ has_role('replica_state') }}
        and fields['state_after'] = 'OfflineReplica'
        and topic_name is not null
        and partition_id is not null
)

select * from final
