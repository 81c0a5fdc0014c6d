{{
    config(
        materialized='table',
        file_format='parquet',
        meta={'known_values': 'event_type', 'at': 'logged_at'}
    )
}}

with events as (
    select * from {{ ref('base_logs__events') }}
),

-- Sorted, so that a query for a few event types reads few row groups: by one number, 20 bits of the
-- type's hash above the milliseconds, because Spark sorts by a number without looking at the rows.
final as (
    select
        cluster_id,
        node_id,
        logged_at,
        event_date,
        event_type,
        source_id,
        source_path,
        byte_offset,
        topic_name,
        partition_id,
        fields
    from events
    where
        not is_copy
        and {{ in_built_clusters() }}
        and {{ since('logged_at') }}
        and {{ since_day('event_date') }}
    order by shiftleft(pmod(xxhash64(event_type), 1048576), 42) + unix_millis(logged_at)
)

select * from final
