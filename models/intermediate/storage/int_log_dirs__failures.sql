with failures as (
    select * from {{ ref('int_log_dirs__failures_logged') }}
),

recoveries as (
    select * from {{ ref('int_logs__recoveries') }}
),

-- Partitions that were being recovered when the directory failed, if no record names a partition.
in_hand as (
    select
        failures.cluster_id,
        failures.node_id,
        failures.log_dir,
        failures.failure_number,
        sort_array(
            collect_set(concat(recoveries.topic_name, '-', recoveries.partition_id))
        ) as partitions
    from failures
    inner join recoveries
        on
            failures.cluster_id = recoveries.cluster_id
            and failures.node_id = recoveries.node_id
            and coalesce(failures.log_dir = recoveries.log_dir, true)
            and failures.failed_at >= recoveries.begun_at
            and coalesce(failures.failed_at < recoveries.ended_at, true)
            and failures.failed_at < recoveries.begun_at + interval 1 day
    where size(failures.partitions) = 0
    group by
        failures.cluster_id, failures.node_id, failures.log_dir, failures.failure_number
),

final as (
    select
        failures.* except (partitions),
        coalesce(in_hand.partitions, failures.partitions) as partitions,
        in_hand.partitions is not null as is_in_hand
    from failures
    left join in_hand
        on
            failures.cluster_id = in_hand.cluster_id
            and failures.node_id = in_hand.node_id
            and failures.log_dir <=> in_hand.log_dir
            and failures.failure_number = in_hand.failure_number
)

select * from final
