-- A partition is without a leader once at a time: a window ends before the next one of its partition starts.
with windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

followed as (
    select
        leaderless_window_key,
        topic_key,
        partition_id,
        started_at,
        ended_at,
        lead(started_at) over (
            partition by topic_key, partition_id
            order by started_at, leaderless_window_key
        ) as next_started_at
    from windows
),

final as (
    select
        leaderless_window_key,
        topic_key,
        partition_id,
        started_at,
        ended_at,
        next_started_at
    from followed
    where
        ended_at < started_at
        or ended_at > next_started_at
        or (ended_at is null and next_started_at is not null)
)

select * from final
