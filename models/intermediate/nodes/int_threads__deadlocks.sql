with deadlocks as (
    select * from {{ ref('stg_captures__deadlocks') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A deadlock lasts until its process ends: the same threads of the same process in a later dump
-- show the same one.
-- Threads that are known by name only may belong to another process.
identified as (
    select
        *,
        coalesce(members, sort_array(array_distinct(threads))) as cycle_threads,
        case when members is null then captured_at end as only_at
    from deadlocks
),

reported as (
    select
        cluster_id,
        process_name,
        cycle_threads,
        only_at,
        max(node_id) as node_id,
        min(captured_at) as captured_at,
        max(captured_at) as last_captured_at,
        -- The JVM's own word is better evidence than what follows from the locks.
        max_by(found_by, array_position(array('cycle', 'jvm'), found_by)) as found_by,
        min_by(
            struct(threads, waiters, waits_for, waits_for_classes, held_by),
            struct(captured_at, source_path, byte_offset, row_number)
        ) as deadlock,
        sort_array(array_distinct(flatten(collect_list(waiting_threads)))) as waiting_threads,
        sort_array(array_distinct(flatten(collect_list(warnings)))) as dump_warnings,
        {{ evidence(at='captured_at') }} as evidence,
        count(*) as evidence_count
    from identified
    group by cluster_id, process_name, cycle_threads, only_at
),

named as (
    select
        * except (deadlock),
        deadlock.*
    from reported
),

final as (
    {{ placed('named', at='captured_at') }}
)

select * from final
