{{ config(materialized='table') }}

with threads as (
    select * from {{ ref('stg_captures__threads') }}
),

logged as (
    select * from {{ ref('int_cleaners__signs_logged') }}
),

samples as (
    select * from {{ ref('stg_metrics__cleaner') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- One row per thread dump of a broker.
-- A dump names no node, but from 0.9 on the threads that expire waiting requests carry its id. A
-- coordinator of groups distinguishes a broker from a KRaft controller, which has no cleaner, and
-- from 0.8, where the cleaner is off by default.
dumps as (
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
),

-- The time since the last run shows when the cleaner was last alive, and whether it has been dead for too long.
sampled as (
    select
        cluster_id,
        node_id,
        case
            when metric = 'cleaner_time_since_last_run_ms'
                then timestamp_millis(unix_millis(sampled_at) - cast(value as bigint))
            else sampled_at
        end as signed_at,
        case metric
            when 'uncleanable_partitions' then 'uncleanable'
            when 'cleaner_dead_threads' then 'dead'
            else 'alive'
        end as sign,
        source_path,
        byte_offset
    from samples
    where metric = 'cleaner_time_since_last_run_ms' or value > 0
    union all
    select
        cluster_id,
        node_id,
        sampled_at as signed_at,
        'dead' as sign,
        source_path,
        byte_offset
    from samples
    where
        metric = 'cleaner_time_since_last_run_ms' and value > {{ var('cleaner_silence_ms') }}
),

signs as (
    select * from logged
    union all
    select
        cluster_id,
        node_id,
        null as process_name,
        captured_at as signed_at,
        if(has_cleaner, 'alive', 'dead') as sign,
        'thread_dump' as reported_by,
        null as cleaner_thread,
        null as cause,
        null as topic_name,
        null as partition_id,
        source_path,
        byte_offset
    from dumps
    union all
    select
        cluster_id,
        node_id,
        null as process_name,
        signed_at,
        sign,
        'metric' as reported_by,
        null as cleaner_thread,
        null as cause,
        null as topic_name,
        null as partition_id,
        source_path,
        byte_offset
    from sampled
),

final as (
    {{ placed('signs', at='signed_at') }}
    where
        coalesce(cast(signs.node_id as string), signs.process_name) is not null
        and signs.signed_at is not null
)

select * from final
