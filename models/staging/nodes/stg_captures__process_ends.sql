with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

-- A capture that prints no time was taken later than what it shows.
ends as (
    select
        cluster_id,
        -- A report of ZooKeeper beside a broker is not of the node of its folder.
        if(contains(lower(substring_index(source_path, '/', -1)), 'zookeeper'), null, node_id)
            as node_id,
        {{ process_name() }} as process_name,
        case when captured_known_by = 'content' then captured_at end as ended_at,
        event_date,
        row_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        lower({{ field('process_name') }}) as program,
        {{ field('process_id') }} as process_id,
        {{ field('resident_bytes', 'bigint') }} as resident_bytes,
        {{ field('reason') }} as reason,
        {{ field('problematic_frame') }} as problematic_frame,
        {{ field('memory_call') }} is not null
        or coalesce(startswith({{ field('reason') }}, 'Out of Memory Error'), false)
            as is_memory_refused,
        lower({{ field('unit') }}) as unit,
        lower({{ field('image') }}) as image,
        {{ field('code') }} as exit_code,
        {{ field('status', 'int') }} as exit_status,
        {{ field('signal') }} as exit_signal,
        {{ field('result') }} as exit_result
    from capture_rows
    where
        row_kind in (
            'jvm_crash', 'oom_kill', 'unit_exit', 'unit_oom_kill', 'unit_failed', 'container_exit'
        )
),

final as (
    select
        * except (image),
        case
            when row_kind in ('oom_kill', 'unit_oom_kill') or exit_result = 'oom-kill'
                then 'oom_killer'
            when row_kind = 'jvm_crash' and is_memory_refused then 'out_of_memory_native'
            when row_kind = 'jvm_crash' or exit_code = 'dumped' or exit_result = 'core-dump'
                then 'jvm_crash'
            -- A container has no dump: SIGABRT and SIGSEGV are what ends a JVM that crashed.
            when row_kind = 'container_exit' and exit_code = 'killed' and exit_status in (6, 11)
                then 'jvm_crash'
            -- A JVM with ExitOnOutOfMemoryError ends with 3.
            when exit_code = 'exited' and exit_status = 3 then 'out_of_memory_heap'
            when exit_code = 'killed' and exit_status = 9 then 'killed'
        end as failure_kind
    from ends
    where
        -- Of the machine's processes, those that are Kafka's, as far as the line tells.
        case row_kind
            when 'oom_kill' then program = 'java' or contains(program, 'kafka')
            when 'jvm_crash' then true
            -- A part of a describe may name no container.
            when 'container_exit'
                then
                    unit is null
                    or (
                        (contains(unit, 'kafka') or coalesce(contains(image, 'kafka'), false))
                        and not contains(unit, 'zookeeper')
                    )
            else contains(unit, 'kafka')
        end
)

select * from final
where failure_kind is not null
