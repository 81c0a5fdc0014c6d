with states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

settings as (
    select *
    from {{ ref('dim_partition_settings') }}
    where min_insync_replicas is not null
),

final as (
    select
        settings.partition_key,
        states.cluster_id,
        states.cluster_incarnation,
        states.topic_name,
        states.partition_id,
        states.topic_incarnation,
        states.state_number,
        settings.min_insync_replicas,
        size(states.isr_members) < settings.min_insync_replicas as is_under_min_isr,
        greatest(states.changed_at, settings.valid_from) as started_at,
        least(states.next_changed_at, settings.valid_to) as ended_at
    from states
    inner join settings
        on
            states.cluster_id = settings.cluster_id
            and states.cluster_incarnation = settings.cluster_incarnation
            and states.topic_name = settings.topic_name
            and states.topic_incarnation = settings.topic_incarnation
            and states.partition_id = settings.partition_id
            and coalesce(states.changed_at < settings.valid_to, true)
            and coalesce(states.next_changed_at > settings.valid_from, true)
)

select * from final
