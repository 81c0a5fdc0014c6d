with failures as (
    select * from {{ ref('int_log_dirs__failures_logged') }}
),

described as (
    select * from {{ ref('int_log_dirs__failures_described') }}
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

-- Failures that no record of the node tells.
only_described as (
    select described.*
    from described
    left anti join failures
        on
            described.cluster_id = failures.cluster_id
            and described.cluster_incarnation = failures.cluster_incarnation
            and described.node_id = failures.node_id
            and coalesce(described.log_dir = failures.log_dir, true)
            and described.last_described_at >= failures.failed_at
),

final as (
    select
        failures.cluster_id,
        failures.cluster_incarnation,
        failures.node_id,
        failures.log_dir,
        failures.failure_number,
        failures.log_dir_id,
        failures.failed_at,
        failures.last_logged_at,
        failures.first_event_type,
        failures.disk_operation,
        failures.exception,
        failures.cause,
        failures.is_disk_full,
        failures.is_dir_offline,
        failures.is_node_stopped,
        failures.evidence,
        failures.evidence_count,
        coalesce(in_hand.partitions, failures.partitions) as partitions,
        in_hand.partitions is not null as is_in_hand,
        'log' as known_by,
        false as is_dated_by_file
    from failures
    left join in_hand
        on
            failures.cluster_id = in_hand.cluster_id
            and failures.node_id = in_hand.node_id
            and failures.log_dir <=> in_hand.log_dir
            and failures.failure_number = in_hand.failure_number
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        log_dir,
        -1 - times_served as failure_number,
        cast(null as string) as log_dir_id,
        failed_at,
        last_described_at as last_logged_at,
        cast(null as string) as first_event_type,
        cast(null as string) as disk_operation,
        exception,
        cause,
        false as is_disk_full,
        true as is_dir_offline,
        false as is_node_stopped,
        evidence,
        evidence_count,
        cast(array() as array<string>) as partitions,
        false as is_in_hand,
        'describe' as known_by,
        is_dated_by_file
    from only_described
)

select * from final
