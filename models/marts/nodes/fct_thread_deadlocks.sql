with deadlocks as (
    select * from {{ ref('int_threads__deadlocks') }}
),

final as (
    select
        {{
            row_key(['cluster_id', 'process_name', 'only_at', "array_join(cycle_threads, chr(31))"])
        }} as thread_deadlock_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        captured_at as found_at,
        cast(captured_at as date) as found_date,
        last_captured_at as last_found_at,
        found_by,
        threads,
        cycle_threads,
        only_at,
        transform(
            arrays_zip(
                waiters,
                waits_for,
                waits_for_classes,
                held_by
            ),
            link -> named_struct(
                'thread_name', link.waiters,
                'waits_for', link.waits_for,
                'lock_class', link.waits_for_classes,
                'held_by', link.held_by
            )
        ) as locks,
        waiting_threads,
        filter(
            waiting_threads, thread -> contains(thread, 'kafka-request-handler')
        ) as request_handlers_waiting,
        evidence,
        evidence_count,
        array_union(
            dump_warnings,
            {{ warnings({'the dump has no timestamp': 'captured_at is null'}) }}
        ) as warnings
    from deadlocks
)

select * from final
