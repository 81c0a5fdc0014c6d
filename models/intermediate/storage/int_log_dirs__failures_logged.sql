with events as (
    select * from {{ ref('stg_logs__log_dir_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A node that stops names all the directories that failed.
by_dir as (
    select
        * except (log_dir, log_dirs, log_name, partition_list, topic_name, partition_id),
        explode_outer(
            coalesce(
                transform(split(coalesce(log_dir, log_dirs), ','), directory -> trim(directory)),
                array(cast(null as string))
            )
        ) as log_dir,
        filter(
            concat(
                transform(split(coalesce(partition_list, ''), ','), name -> trim(name)),
                array(coalesce(concat(topic_name, '-', partition_id), log_name))
            ),
            name -> name <> ''
        ) as partitions
    from events
),

-- Records about one failure of a directory follow each other within a minute.
marked as (
    select
        *,
        case
            when lag(logged_at) over (directory) >= logged_at - interval 1 minute then 0
            -- A node that stops names directories that may have failed long before.
            when
                {{ has_role('disk_stop') }}
                and not lag({{ has_role('disk_stop') }}) over (directory)
                then 0
            else 1
        end as is_first_line
    from by_dir
    window directory as (
        partition by cluster_id, node_id, log_dir
        order by logged_at, source_path, byte_offset
    )
),

numbered as (
    select
        *,
        sum(is_first_line) over (
            partition by cluster_id, node_id, log_dir
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as failure_number
    from marked
),

placed as (
    {{ placed('numbered') }}
),

final as (
    select
        cluster_id,
        min(cluster_incarnation) as cluster_incarnation,
        node_id,
        log_dir,
        failure_number,
        max(log_dir_id) as log_dir_id,
        min(logged_at) as failed_at,
        max(logged_at) as last_logged_at,
        min_by(event_type, struct(logged_at, source_path, byte_offset)) as first_event_type,
        min_by(disk_operation, struct(logged_at, source_path, byte_offset))
        filter (where disk_operation is not null) as disk_operation,
        min_by(exception, struct(logged_at, source_path, byte_offset))
        filter (where exception is not null) as exception,
        min_by(exception_message, struct(logged_at, source_path, byte_offset))
        filter (where exception_message is not null) as cause,
        sort_array(array_distinct(flatten(collect_list(partitions)))) as partitions,
        coalesce(max(exception_message like '%No space left on device%'), false) as is_disk_full,
        max({{ has_role('log_dir_failure') }}) as is_dir_offline,
        max({{ has_role('disk_stop') }}) as is_node_stopped,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed
    group by cluster_id, node_id, log_dir, failure_number
)

select * from final
