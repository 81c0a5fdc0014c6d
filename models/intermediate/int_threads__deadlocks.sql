with deadlocks as (
    select * from {{ ref('stg_captures__deadlocks') }}
),

threads as (
    select * from {{ ref('stg_captures__threads') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

blocked as (
    select
        cluster_id,
        source_id,
        dump_number,
        thread_name,
        max(blocked_by) as blocked_by
    from threads
    where blocked_by is not null and thread_name is not null
    group by cluster_id, source_id, dump_number, thread_name
),

dumps as (
    select
        cluster_id,
        source_id,
        dump_number,
        map_from_entries(collect_list(struct(thread_name, blocked_by))) as blockers
    from blocked
    group by cluster_id, source_id, dump_number
),

-- A thread waits behind the deadlock where the threads that block each other from it on lead there.
behind as (
    select
        deadlocks.*,
        array_sort(
            filter(
                coalesce(map_keys(dumps.blockers), array()),
                thread
                -> not array_contains(deadlocks.threads, thread)
                and array_contains(
                    deadlocks.threads,
                    aggregate(
                        sequence(1, 50),
                        thread,
                        (reached, step)
                        -> if(
                            array_contains(deadlocks.threads, reached),
                            reached,
                            coalesce(try_element_at(dumps.blockers, reached), reached)
                        )
                    )
                )
            )
        ) as waiting_threads
    from deadlocks
    left join dumps
        on
            deadlocks.cluster_id = dumps.cluster_id
            and deadlocks.source_id = dumps.source_id
            and deadlocks.dump_number <=> dumps.dump_number
),

told as (
    select
        cluster_id,
        process_name,
        captured_at,
        array_sort(threads) as threads_sorted,
        max(node_id) as node_id,
        min(found_by) as found_by,
        min_by(
            struct(threads, waits_for, waits_for_classes, held_by, waiting_threads),
            struct(source_path, byte_offset, row_number)
        ) as deadlock,
        array_sort(flatten(collect_set(warnings))) as dump_warnings,
        {{ evidence(at='captured_at') }} as evidence,
        count(*) as evidence_count
    from behind
    group by cluster_id, process_name, captured_at, array_sort(threads)
),

named as (
    select
        * except (deadlock),
        deadlock.*
    from told
),

final as (
    {{ placed('named', at='captured_at') }}
)

select * from final
