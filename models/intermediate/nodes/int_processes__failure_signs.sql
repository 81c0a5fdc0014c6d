with failures as (
    select * from {{ ref('stg_logs__process_failures') }}
),

exhaustions as (
    select * from {{ ref('stg_logs__exhaustions') }}
),

process_ends as (
    select * from {{ ref('stg_captures__process_ends') }}
),

reasons as (
    select * from {{ ref('failure_reasons') }}
),

kinds as (
    select * from {{ ref('failure_kinds') }}
),

-- A report beside the log of a single process is of that process.
folders as (
    select
        cluster_id,
        left(source_path, length(source_path) - instr(reverse(source_path), '/')) as folder,
        max(node_id) as node_id
    from {{ ref('int_nodes__starts') }}
    group by cluster_id, left(source_path, length(source_path) - instr(reverse(source_path), '/'))
    having max(node_id) = min(node_id)
),

-- What a record says: the exception, the last cause of its trace.
texts as (
    select
        cluster_id,
        source_id,
        byte_offset,
        explode(
            array(
                struct(exception, exception_message as message),
                struct(root_exception as exception, root_exception_message as message)
            )
        ) as said
    from failures
),

explained as (
    select
        texts.cluster_id,
        texts.source_id,
        texts.byte_offset,
        min(
            struct(
                reasons.priority,
                reasons.reason_kind,
                reasons.failure_kind,
                texts.said.exception,
                texts.said.message
            )
        ) as reason
    from texts
    inner join reasons
        on
            coalesce(texts.said.exception, '') like reasons.exception
            and coalesce(texts.said.message, '') like reasons.message
    group by texts.cluster_id, texts.source_id, texts.byte_offset
),

unioned as (
    select
        failures.cluster_id,
        failures.node_id,
        failures.process_name,
        failures.logged_at as signed_at,
        failures.source_id,
        failures.source_path,
        failures.byte_offset,
        case
            when failures.is_of_start then 'start_failed'
            when explained.reason.failure_kind is not null then explained.reason.failure_kind
            when failures.is_of_disk then 'disk_failed'
            when failures.is_of_stop then 'stop_failed'
            else 'fatal_error'
        end as failure_kind,
        coalesce(explained.reason.priority, 999) as priority,
        explained.reason.reason_kind,
        if(explained.reason.priority is null, failures.exception, explained.reason.exception)
            as exception,
        if(explained.reason.priority is null, failures.exception_message, explained.reason.message)
            as exception_message,
        failures.is_end,
        failures.is_context,
        false as is_capture
    from failures
    left join explained
        on
            failures.cluster_id = explained.cluster_id
            and failures.source_id = explained.source_id
            and failures.byte_offset = explained.byte_offset
    union all
    select
        cluster_id,
        node_id,
        process_name,
        logged_at as signed_at,
        source_id,
        source_path,
        byte_offset,
        case resource
            when 'heap_bytes' then 'out_of_memory_heap'
            when 'open_files' then 'too_many_open_files'
            when 'jvm' then 'jvm_crash'
            else 'out_of_memory_native'
        end as failure_kind,
        -- Below the wordings of exceptions, which say the same of the same record.
        50 as priority,
        case resource
            when 'jvm' then null
            when 'open_files' then 'too_many_open_files'
            else 'out_of_memory'
        end as reason_kind,
        cast(null as string) as exception,
        case resource
            when 'heap_bytes' then heap_message
            when 'threads' then 'unable to create a thread'
            when 'memory_maps' then 'Map failed'
            when 'metaspace_bytes' then 'Metaspace'
            when 'direct_bytes' then 'Direct buffer memory'
            when 'native_bytes' then 'insufficient memory for the Java Runtime Environment'
            when 'open_files' then 'Too many open files'
        end as exception_message,
        is_end,
        false as is_context,
        false as is_capture
    from exhaustions
    union all
    select
        process_ends.cluster_id,
        coalesce(process_ends.node_id, folders.node_id) as node_id,
        process_ends.process_name,
        process_ends.ended_at as signed_at,
        process_ends.source_id,
        process_ends.source_path,
        process_ends.byte_offset,
        process_ends.failure_kind,
        -- What the kernel says comes before what systemd sees of it.
        if(failure_kind like '%memory%' or failure_kind = 'oom_killer', 0, 1) as priority,
        case
            when failure_kind like '%memory%' or failure_kind = 'oom_killer' then 'out_of_memory'
        end as reason_kind,
        cast(null as string) as exception,
        case row_kind
            when 'jvm_crash' then concat_ws(' in ', reason, problematic_frame)
            when 'oom_kill' then concat(program, ' (process ', coalesce(process_id, '?'), ')')
            else concat_ws(' ', unit, exit_code, exit_signal, exit_result)
        end as exception_message,
        true as is_end,
        false as is_context,
        true as is_capture
    from process_ends
    left join folders
        on
            process_ends.cluster_id = folders.cluster_id
            and folders.folder
            = left(
                process_ends.source_path,
                length(process_ends.source_path) - instr(reverse(process_ends.source_path), '/')
            )
            and not contains(process_ends.process_name, 'zookeeper')
),

-- One row per record: that a resource ran out is often the reason in a record that says more.
final as (
    select
        unioned.cluster_id,
        max(unioned.node_id) as node_id,
        max(unioned.process_name) as process_name,
        max(unioned.signed_at) as signed_at,
        unioned.source_id,
        max(unioned.source_path) as source_path,
        unioned.byte_offset,
        min(struct(kinds.rank, kinds.failure_kind)) as kind,
        min(
            struct(
                unioned.priority,
                unioned.reason_kind,
                unioned.exception,
                unioned.exception_message
            )
        ) as reason,
        max(unioned.is_end) as is_end,
        min(unioned.is_context) as is_context,
        max(unioned.is_capture) as is_capture
    from unioned
    inner join kinds on unioned.failure_kind = kinds.failure_kind
    group by unioned.cluster_id, unioned.source_id, unioned.byte_offset
)

select * from final
