{{
    config(
        materialized='table',
        meta={'known_values': 'event_type', 'at': 'logged_at'}
    )
}}

with records as (
    select * from {{ source('bronze', 'log_records') }}
),

event_types as (
    select * from {{ ref('event_types') }}
),

recognised as (
    select
        cluster_id,
        source_id,
        byte_offset,
        source_path,
        node_id,
        event_date,
        logged_at,
        time_resolution_ms,
        level,
        logger,
        topic_name,
        partition_id,
        event_type,
        fields,
        writer,
        {{ writer_id() }} as writer_id,
        -- A line of no node is a copy only of a line in its own file, or of another file of its process.
        coalesce(cast(node_id as string), writer, source_id) as copies_of,
        -- One layout prints milliseconds, another whole seconds.
        unix_seconds(logged_at) as logged_second,
        coalesce(time_resolution_ms >= 1000, false) as is_coarse,
        xxhash64(level, logger, context, body) as message_hash
    from records
    where
        event_type is not null
        and logged_at is not null
        and event_type in (select event_type from event_types where not is_noise)
),

-- The same text twice in one file is two events; in two files of one node it is one event, seen
-- twice; a line of a file with whole seconds is one with the line of another file in that second.
-- Lines are compared only within their cluster, time and day, so that filters on these reach
-- the records and a query for some of them reads no others. The hash comes first, because a sort
-- that a number decides is several times as fast as one that begins with equal texts. All windows
-- need the same order, so the wide rows are sorted once.
numbered as (
    select
        *,
        row_number() over (
            partition by
                message_hash, logged_second, event_date, cluster_id, copies_of, is_coarse,
                logged_at, source_id
            order by byte_offset
        ) as occurrence,
        sum(if(is_coarse, 0, 1)) over (
            partition by message_hash, logged_second, event_date, cluster_id, copies_of
            order by is_coarse, logged_at, source_id, byte_offset
            rows between unbounded preceding and current row
        ) as exact_lines
    from recognised
),

compared as (
    select
        cluster_id,
        source_id,
        byte_offset,
        source_path,
        node_id,
        writer,
        writer_id,
        logged_at,
        time_resolution_ms,
        event_date,
        topic_name,
        partition_id,
        event_type,
        fields,
        -- Rows of its own file before it have lower numbers, so only another file can have reached this one.
        coalesce(max(occurrence) over (
            partition by
                message_hash, logged_second, event_date, cluster_id, copies_of, is_coarse, logged_at
            order by source_id, byte_offset
            rows between unbounded preceding and 1 preceding
        ) >= occurrence, false)
        or (is_coarse and exact_lines >= occurrence) as is_copy
    from numbered
),

-- Sorted, so that a query for a few event types reads few row groups: by one number, 20 bits of the
-- type's hash above the milliseconds, because Spark sorts by a number without looking at the rows.
final as (
    select
        cluster_id,
        node_id,
        writer,
        writer_id,
        logged_at,
        event_date,
        event_type,
        source_id,
        source_path,
        byte_offset,
        topic_name,
        partition_id,
        fields,
        time_resolution_ms
    from compared
    where
        not is_copy
        and {{ in_built_clusters() }}
        and {{ since('logged_at') }}
        and {{ since_day('event_date') }}
    order by shiftleft(pmod(xxhash64(event_type), 1048576), 42) + unix_millis(logged_at)
)

select * from final
