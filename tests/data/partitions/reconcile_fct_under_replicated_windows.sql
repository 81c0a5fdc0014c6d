-- Compares the windows with the changes of in-sync sets: no replica comes back inside its window,
-- and each that leaves the set and comes back later is in a window when it leaves, or within a
-- second, because several nodes report the same state.
with changes as (
    select * from {{ ref('fct_isr_changes') }}
),

mart_rows as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

returns as (
    select
        cluster_id,
        topic_key,
        partition_id,
        changed_at,
        explode(added) as replica_id
    from changes
),

departures as (
    select
        cluster_id,
        topic_key,
        partition_id,
        changed_at,
        isr_change_key,
        explode(removed) as replica_id
    from changes
),

back_inside as (
    select
        mart_rows.cluster_id,
        mart_rows.under_replicated_window_key as found_key
    from mart_rows
    inner join returns
        on
            mart_rows.topic_key = returns.topic_key
            and mart_rows.partition_id = returns.partition_id
            and mart_rows.replica_id = returns.replica_id
            and mart_rows.started_at < returns.changed_at
            and coalesce(mart_rows.ended_at > returns.changed_at, true)
),

left_out as (
    select
        departures.cluster_id,
        departures.isr_change_key as found_key
    from departures
    left semi join returns
        on
            departures.topic_key = returns.topic_key
            and departures.partition_id = returns.partition_id
            and departures.replica_id = returns.replica_id
            and departures.changed_at < returns.changed_at
    left anti join mart_rows
        on
            departures.topic_key = mart_rows.topic_key
            and departures.partition_id = mart_rows.partition_id
            and departures.replica_id = mart_rows.replica_id
            and departures.changed_at >= mart_rows.started_at - interval 1 second
            and coalesce(departures.changed_at <= mart_rows.ended_at, true)
),

final as (
    select * from back_inside
    union all
    select * from left_out
)

select * from final
