with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

-- Of each server of ZooKeeper: when it was elected last, who was elected last, and when it next
-- looked for a leader.
followed as (
    select
        *,
        last_value(
            case when {{ has_role('zookeeper_leadership') }} then logged_at end, true
        ) over (
            partition by cluster_id, process_name
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as led_from,
        last_value(
            case when {{ has_role('zookeeper_leadership') }} then process_name end, true
        ) over (
            partition by cluster_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as leader_name,
        lead(
            case when {{ has_role('zookeeper_leader_search') }} then logged_at end
        ) ignore nulls over (
            partition by cluster_id, process_name order by logged_at, source_path, byte_offset
        ) as lost_leadership_at
    from session_events
    where
        {{ has_role([
            'session_expiry',
            'zookeeper_leadership',
            'zookeeper_leader_search',
        ]) }}
),

-- A leader that was frozen expires all sessions when it continues, before it learns that another leads: nobody's session ended. One that
-- is cut off does the same before it is replaced: such an expiry may have been stored or not.
final as (
    select
        cluster_id,
        session_id,
        node_id,
        process_name,
        logged_at,
        source_path,
        byte_offset,
        coalesce(lost_leadership_at <= logged_at + interval 30 seconds, false) as is_doubtful
    from followed
    where
        {{ has_role('session_expiry') }}
        and not coalesce(
            led_from is not null
            and leader_name <> process_name
            and lost_leadership_at <= logged_at + interval 1 minute,
            false
        )
)

select * from final
