{{ config(materialized='table') }}

with stall_events as (
    select * from {{ ref('stg_logs__stall_events') }}
),

owners as (
    select * from {{ ref('int_sessions__owned') }}
),

-- A follower gives up its leader after two thirds of the time after which the leader misses its
-- followers.
abandoned as (
    select
        losses.cluster_id,
        losses.source_id,
        losses.byte_offset,
        max(followers.logged_at) as given_up_at
    from stall_events as losses
    inner join stall_events as followers
        on
            losses.cluster_id = followers.cluster_id
            and {{ has_role('quorum_fetch_timeout', 'followers.event_type') }}
            and losses.node_id <> followers.node_id
            and losses.logged_at > followers.logged_at
            and followers.logged_at > losses.logged_at - interval 1 minute
    where {{ has_role('quorum_majority_loss', 'losses.event_type') }}
    group by losses.cluster_id, losses.source_id, losses.byte_offset
),

timed as (
    select
        stall_events.cluster_id,
        stall_events.node_id,
        stall_events.process_name,
        stall_events.logged_at,
        stall_events.event_type,
        stall_events.source_path,
        stall_events.byte_offset,
        stall_events.allowed_ms,
        owners.timeout_ms,
        case
            when {{ has_role('quorum_majority_loss', 'stall_events.event_type') }}
                then
                    unix_millis(stall_events.logged_at)
                    - unix_millis(abandoned.given_up_at)
                    + stall_events.allowed_ms * 2 div 3
            else stall_events.waited_ms
        end as waited_ms
    from stall_events
    left join owners
        on
            stall_events.cluster_id = owners.cluster_id
            and stall_events.session_id = owners.session_id
    left join abandoned
        on
            stall_events.cluster_id = abandoned.cluster_id
            and stall_events.source_id = abandoned.source_id
            and stall_events.byte_offset = abandoned.byte_offset
    where
        not {{ has_role([
            'session_expiry',
            'socket_closure',
            'quorum_fetch_timeout',
        ], 'stall_events.event_type') }}
),

final as (
    select
        cluster_id,
        node_id,
        process_name,
        logged_at,
        event_type,
        source_path,
        byte_offset,
        waited_ms,
        case
            -- The client checks after two thirds of the timeout; while it connects, after the whole
            -- timeout.
            when {{ has_role('session_timeout') }}
                then
                    case
                        when waited_ms between timeout_ms and timeout_ms + 100 then 0
                        else waited_ms - timeout_ms * 2 div 3
                    end
            -- An idle client may check its requests only once per request timeout.
            when {{ has_role('request_cancellation') }}
                then if(waited_ms > allowed_ms * 2 + 100, waited_ms - allowed_ms, 0)
            when {{ has_role('quorum_majority_loss') }} then waited_ms - allowed_ms
            else waited_ms
        end as late_ms
    from timed
    where waited_ms is not null
)

select * from final
