with clusters as (
    select
        cluster_id,
        max(last_seen_at) as last_seen_at
    from {{ ref('dim_clusters') }}
    group by cluster_id
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

under_replicated_windows as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

cleaner_outages as (
    select * from {{ ref('fct_log_cleaner_outages') }}
),

epoch_gaps as (
    select * from {{ ref('fct_epoch_gaps') }}
),

session_expiries as (
    select * from {{ ref('fct_session_expiries') }}
),

windows as (
    select {{ day_window('leaderless_ms', 'started_at', 'ended_at', node='null') }}
    from leaderless_windows
    union all
    select {{ day_window('under_replicated_ms', 'started_at', 'ended_at', node='replica_id') }}
    from under_replicated_windows
    union all
    select {{ day_window('cleaner_outage_ms', 'stopped_at', 'resumed_at') }}
    from cleaner_outages
    where extent <> 'partition'
    union all
    select {{ day_window('stale_epoch_ms', 'opened_at', 'closed_at') }}
    from epoch_gaps
    where gap_kind = 'stale_node'
    union all
    select {{ day_window('without_session_ms', 'expired_at', 'reconnected_at') }}
    from session_expiries
    where session_kind <> 'zookeeper_client'
),

-- A stretch without an end lasts as far as there is evidence.
closed as (
    select
        windows.cluster_id,
        windows.node_id,
        windows.measure,
        windows.started_at,
        greatest(windows.started_at, coalesce(windows.ended_at, clusters.last_seen_at)) as ended_at
    from windows
    inner join clusters on windows.cluster_id = clusters.cluster_id
    where windows.started_at is not null
),

by_day as (
    select
        *,
        explode(
            sequence(cast(started_at as date), cast(ended_at as date), interval 1 day)
        ) as event_date
    from closed
),

final as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        sum(
            unix_millis(least(ended_at, cast(date_add(event_date, 1) as timestamp)))
            - unix_millis(greatest(started_at, cast(event_date as timestamp)))
        ) as value
    from by_day
    group by cluster_id, node_id, measure, event_date
)

select * from final
