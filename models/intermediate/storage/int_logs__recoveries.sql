with events as (
    select * from {{ ref('stg_logs__recovery_events') }}
),

-- A recovery lasts until the log is loaded; it is also over when the node has loaded all logs or
-- begins to load them again.
followed as (
    select
        *,
        lead(case when {{ has_role('log_load') }} then logged_at end) ignore nulls over (
            partition by cluster_id, node_id, topic_name, partition_id
            order by logged_at, source_path, byte_offset
        ) as loaded_at,
        lead(
            case
                when {{ has_role(['logs_loading_start', 'logs_loading_end']) }}
                    then logged_at
            end
        ) ignore nulls over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
        ) as all_ended_at
    from events
),

final as (
    select
        cluster_id,
        node_id,
        topic_name,
        partition_id,
        max(log_dir) as log_dir,
        min(logged_at) as begun_at,
        least(loaded_at, all_ended_at) as ended_at
    from followed
    where {{ has_role('segment_recovery') }} and topic_name is not null
    group by cluster_id, node_id, topic_name, partition_id, least(loaded_at, all_ended_at)
)

select * from final
