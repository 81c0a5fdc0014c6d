with tenures as (
    select * from {{ ref('int_controllers__tenures') }}
),

sessions as (
    select * from {{ ref('int_sessions__ended') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

expiries as (
    select
        tenures.*,
        min(
            if(
                sessions.expired_at
                <= coalesce(tenures.superseded_at, timestamp '9999-01-01 00:00:00')
                + interval 1 second,
                sessions.expired_at,
                null
            )
        ) as expired_at,
        -- The client learns of the expiry when it reaches ZooKeeper again, and then resigns.
        bool_or(
            coalesce(
                sessions.expired_at <= tenures.superseded_at + interval 1 second
                and abs(unix_millis(sessions.noticed_at) - unix_millis(tenures.resigned_at))
                <= 60000,
                false
            )
        ) as is_resignation_explained,
        bool_or(
            coalesce(
                sessions.expired_at > tenures.superseded_at + interval 1 second
                and abs(unix_millis(sessions.noticed_at) - unix_millis(tenures.resigned_at))
                <= 5000,
                false
            )
        ) as is_resignation_of_later_session
    from tenures
    left join sessions
        on
            tenures.cluster_id = sessions.cluster_id
            and tenures.cluster_incarnation = sessions.cluster_incarnation
            and tenures.controller_id = sessions.node_id
            and sessions.session_kind = 'zookeeper_broker'
            and tenures.epoch_kind = 'controller'
            and tenures.known_since_at < sessions.expired_at
    group by all
),

-- What can end a term, and when. A node that shuts down resigns while it stops.
ends as (
    select
        expiries.* except (is_resignation_explained, is_resignation_of_later_session),
        -- A node of the quorum prints which term it gives up. With ZooKeeper, a resignation after the
        -- next election may be that of a broker which had noticed before, in a part of its log that
        -- is missing: its sessions tell, or else that it resigned within a minute.
        expiries.epoch_kind = 'metadata'
        or coalesce(expiries.is_resignation_explained, false)
        or (
            expiries.resigned_at <= expiries.superseded_at + interval 1 minute
            and not coalesce(expiries.is_resignation_of_later_session, false)
        ) as is_resignation_certain,
        incarnations.valid_to,
        case
            when expiries.resigned_at <= coalesce(expiries.superseded_at, expiries.resigned_at)
                then expiries.resigned_at
        end as resigned_in_time_at,
        case
            when
                expiries.stopping_at >= expiries.known_since_at
                or expiries.stopped_at >= expiries.known_since_at
                then coalesce(expiries.stopped_at, expiries.stopping_at)
        end as shut_down_at,
        case
            when
                expiries.stopping_at is null
                and expiries.stopped_at is null
                and expiries.next_started_at is not null
                then expiries.fell_silent_at
        end as killed_at
    from expiries
    inner join incarnations using (cluster_id, cluster_incarnation)
),

-- Until when the node acted as controller beside the next one. Both sides have to say so themselves.
acted as (
    select
        *,
        case
            when superseded_by_id <> controller_id
                then greatest(last_write_at, if(resigned_at > superseded_at, resigned_at, null))
        end as last_acted_at,
        case
            when superseded_by_id <> controller_id and has_evident_successor
                then
                    greatest(
                        last_write_at,
                        if(
                            resigned_at > superseded_at
                            and coalesce(is_resignation_certain, false),
                            resigned_at,
                            null
                        )
                    )
        end as acted_until,
        -- ZooKeeper's or the quorum's state was made anew, and with it the election.
        nullif(valid_to, timestamp '9999-01-01 00:00:00') as state_ended_at
    from ends
),

-- A term ends with the first of them. If the node logs that it continued after
-- another was elected, or its writes show it, its term ends when it stops acting as controller.
final as (
    select
        * except (
            resigned_in_time_at,
            shut_down_at,
            killed_at,
            state_ended_at,
            valid_to,
            is_resignation_certain,
            last_acted_at
        ),
        last_acted_at is not null and acted_until is null as has_doubtful_overlap,
        greatest(
            least(
                superseded_at,
                resigned_in_time_at,
                expired_at,
                shut_down_at,
                killed_at,
                state_ended_at
            ),
            acted_until
        ) as ended_at,
        case
            when
                coalesce(
                    superseded_at,
                    resigned_in_time_at,
                    expired_at,
                    shut_down_at,
                    killed_at,
                    state_ended_at
                )
                is null
                then 'open'
            -- The process was stopping before anything else happened.
            when
                shut_down_at is not null
                and coalesce(
                    stopping_at <= least(superseded_at, resigned_in_time_at, expired_at), true
                )
                then 'shutdown'
            -- The session and its successor are dated by two clocks.
            when
                expired_at is not null
                and coalesce(
                    expired_at - interval 1 second
                    <= least(superseded_at, resigned_in_time_at, killed_at),
                    true
                )
                then 'expired'
            when killed_at <= coalesce(least(superseded_at, resigned_in_time_at), killed_at)
                then 'killed'
            when resigned_in_time_at is not null then 'resigned'
            else 'superseded'
        end as end_kind
    from acted
)

select * from final
