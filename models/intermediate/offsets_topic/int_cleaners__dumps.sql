with threads as (
    select * from {{ ref('stg_captures__threads') }}
),

-- A dump names no node; the threads that end waiting requests carry its id, from 0.9 on. A coordinator of groups tells a
-- broker from a KRaft controller, which has no cleaner, and from 0.8, where the cleaner is off unless asked for.
final as (
    select
        cluster_id,
        coalesce(
            max(node_id),
            max(
                case
                    when thread_name like 'ExpirationReaper-%'
                        then try_cast(split_part(thread_name, '-', 2) as int)
                end
            )
        ) as node_id,
        max(captured_at) as captured_at,
        max(thread_name like 'kafka-log-cleaner-thread-%') as has_cleaner,
        source_id,
        max(source_path) as source_path,
        coalesce(
            min(
                case when thread_name like 'kafka-log-cleaner-thread-%' then byte_offset end
            ),
            min(byte_offset)
        ) as byte_offset
    from threads
    group by cluster_id, source_id, dump_number
    having
        max(
            thread_name like 'group-metadata-manager-%' or thread_name like 'group-coordinator-%'
        )
)

select * from final
