with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ process_name(of_record=true) }} as process_name,
        topic_name,
        partition_id,
        {{ field('in_sync_replicas', 'int') }} as in_sync_replicas,
        {{ field('min_insync_replicas', 'int') }} as min_insync_replicas,
        {{ field('isr', 'array<int>') }} as isr,
        -- After the append: the leader has the records, and the producer is told that too few others have them.
        coalesce(
            {{ field('exception') }} like '%NotEnoughReplicasAfterAppend%'
            or {{ field('error') }} like 'NOT_ENOUGH_REPLICAS_AFTER_APPEND%'
            or {{ field('error') }} like 'Messages are written to the log%',
            false
        ) as is_appended
    from events
    where
        {{ has_role('write_refusal') }}
        and topic_name is not null
        and partition_id is not null
        and (
            {{ field('exception') }} like '%NotEnoughReplicas%'
            or {{ field('min_insync_replicas') }} is not null
            or {{ field('error') }} like 'NOT_ENOUGH_REPLICAS%'
            or {{ field('error') }} like '%fewer in-sync replicas than required%'
        )
)

select * from final
