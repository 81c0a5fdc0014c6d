{{
    config(
        materialized='table',
        meta={'at': 'resumed_at'}
    )
}}

with records as (
    select * from {{ ref('stg_logs__records') }}
    where {{ in_built_clusters() }}
),

minutes as (
    select * from {{ ref('int_processes__minutes') }}
),

gc_events as (
    select * from {{ ref('stg_captures__gc_events') }}
),

-- Every record shows that its process runs, whatever its level, recognised or not. Of the records
-- before the time from which silences are looked for, only the last one counts. Those of the last
-- 61 seconds are read one by one, because a minute only keeps its last record, which may lie after
-- that time.
signs as (
    select
        cluster_id,
        process_name,
        logged_at
    from records
    where logged_at is not null and {{ since('logged_at', '61 seconds') }}
    union all
    select
        cluster_id,
        process_name,
        max(last_logged_at) as logged_at
    from minutes
    where not ({{ since('minute_at', '61 seconds') }})
    group by cluster_id, process_name
    union all
    select
        cluster_id,
        process_name,
        started_at as logged_at
    from gc_events
    where started_at is not null
),

-- After a silence of a second a new second begins: two rows of each second are enough.
seconds as (
    select
        cluster_id,
        process_name,
        date_trunc('second', logged_at) as second_at,
        min(logged_at) as first_at,
        max(logged_at) as last_at
    from signs
    group by cluster_id, process_name, date_trunc('second', logged_at)
),

followed as (
    select
        cluster_id,
        process_name,
        first_at as resumed_at,
        lag(last_at)
            over (partition by cluster_id, process_name order by second_at)
            as silent_from
    from seconds
),

final as (
    select
        cluster_id,
        process_name,
        silent_from,
        resumed_at,
        unix_millis(resumed_at) - unix_millis(silent_from) as silence_ms
    from followed
    where
        unix_millis(resumed_at) - unix_millis(silent_from) >= {{ var('stall_ms') }}
        and {{ since('resumed_at') }}
)

select * from final
