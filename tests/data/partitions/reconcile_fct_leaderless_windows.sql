-- Compares the windows with the elections: a window begins with an epoch without a leader, unless a describe or a failed
-- election tells of it, and holds none with one, and each epoch without a leader that is followed by one with a leader is in a
-- window.
with elections as (
    select
        *,
        max(case when not is_leaderless then leader_epoch end) over (
            partition by topic_key, partition_id
            order by leader_epoch, leader_election_key
            rows between unbounded preceding and unbounded following
        ) as last_epoch_led
    from {{ ref('fct_leader_elections') }}
),

mart_rows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

begun_otherwise as (
    select
        mart_rows.cluster_id,
        mart_rows.leaderless_window_key as found_key
    from mart_rows
    left anti join elections
        on
            mart_rows.topic_key = elections.topic_key
            and mart_rows.partition_id = elections.partition_id
            and mart_rows.started_at = elections.elected_at
            and elections.is_leaderless
    where
        not array_contains(
            mart_rows.warnings,
            'it began before started_at: this is when it was first known to have no leader'
        )
),

led_inside as (
    select
        mart_rows.cluster_id,
        mart_rows.leaderless_window_key as found_key
    from mart_rows
    inner join elections
        on
            mart_rows.topic_key = elections.topic_key
            and mart_rows.partition_id = elections.partition_id
            and mart_rows.started_at < elections.elected_at
            and coalesce(mart_rows.ended_at > elections.elected_at, true)
    where not elections.is_leaderless
),

left_out as (
    select
        elections.cluster_id,
        elections.leader_election_key as found_key
    from elections
    left anti join mart_rows
        on
            elections.topic_key = mart_rows.topic_key
            and elections.partition_id = mart_rows.partition_id
            and elections.elected_at >= mart_rows.started_at
            and coalesce(elections.held_until <= mart_rows.ended_at, mart_rows.ended_at is null)
    where elections.is_leaderless and elections.leader_epoch < elections.last_epoch_led
),

final as (
    select * from begun_otherwise
    union all
    select * from led_inside
    union all
    select * from left_out
)

select * from final
