with failures as (
    select * from {{ ref('int_log_dirs__failures') }}
),

final as (
    select
        {{
            row_key(['cluster_id', 'cluster_incarnation', 'node_id', 'log_dir', 'failed_at'])
        }} as log_dir_failure_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        log_dir,
        log_dir_id,
        failed_at,
        cast(failed_at as date) as failed_date,
        last_logged_at,
        first_event_type,
        disk_operation,
        exception,
        cause,
        partitions,
        cast(size(partitions) as bigint) as partitions_affected,
        is_disk_full,
        is_dir_offline,
        is_node_stopped,
        known_by,
        evidence,
        evidence_count,
        {{
            warnings({
                'no record names the directory': 'log_dir is null',
                'no record shows that the directory went offline': 'not is_dir_offline and not is_node_stopped',
                'the node that wrote the log is unknown': 'node_id is null',
                'concluded: the partitions are those that were being recovered when it failed': 'is_in_hand',
                'it failed before: failed_at is when a describe first shows it': "known_by = 'describe'",
                'a time is the last change of the file: the describe names none': 'is_dated_by_file'
            })
        }} as warnings
    from failures
)

select * from final
