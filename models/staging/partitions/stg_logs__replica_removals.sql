with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

-- From 0.10.2 on a log is renamed at once and deleted a minute later, when the broker may hold the partition again.
final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id
    from events
    where
        {{ has_role('replica_removal') }}
        and not (
            {{ has_role('log_deletion') }}
            and coalesce({{ field('log_path') }} like '%-delete', false)
        )
        and node_id is not null
        and topic_name is not null
        and partition_id is not null
)

select * from final
