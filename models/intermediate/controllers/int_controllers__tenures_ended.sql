with tenures as (
    select * from {{ ref('int_controllers__tenures') }}
),

sessions as (
    select * from {{ ref('int_sessions__ended') }}
),

expiries as (
    select
        tenures.cluster_id,
        tenures.cluster_incarnation,
        tenures.epoch_kind,
        tenures.controller_epoch,
        min(sessions.expired_at) as expired_at
    from tenures
    inner join sessions
        on
            tenures.cluster_id = sessions.cluster_id
            and tenures.controller_id = sessions.node_id
            and sessions.session_kind = 'zookeeper_broker'
            and tenures.elected_at < sessions.expired_at
            and sessions.expired_at
            <= coalesce(tenures.superseded_at, timestamp '9999-01-01 00:00:00') + interval 1 second
    group by
        tenures.cluster_id,
        tenures.cluster_incarnation,
        tenures.epoch_kind,
        tenures.controller_epoch
),

-- A term ends with the first event that can end it. If the node logs that it continued after
-- another was elected, or its writes show it, its term ends when it stops acting as controller.
final as (
    select
        tenures.*,
        expiries.expired_at,
        greatest(
            least(
                tenures.superseded_at,
                case
                    when tenures.resigned_at <= coalesce(tenures.superseded_at, tenures.resigned_at)
                        then tenures.resigned_at
                end,
                expiries.expired_at,
                case
                    when tenures.stopping_at > tenures.elected_at
                        then coalesce(tenures.stopped_at, tenures.stopping_at)
                    when tenures.stopped_at is null and tenures.next_started_at is not null
                        then tenures.fell_silent_at
                end
            ),
            case
                when
                    tenures.superseded_by_id <> tenures.controller_id
                    and tenures.resigned_at > tenures.superseded_at
                    then tenures.resigned_at
            end,
            case
                when tenures.superseded_by_id <> tenures.controller_id then tenures.last_write_at
            end
        ) as ended_at,
        case
            when
                tenures.stopping_at > tenures.elected_at
                and (tenures.superseded_at is null or tenures.stopping_at <= tenures.superseded_at)
                then 'shutdown'
            when
                tenures.stopped_at is null
                and tenures.next_started_at is not null
                and tenures.fell_silent_at
                <= coalesce(tenures.superseded_at, tenures.fell_silent_at)
                then 'killed'
            when expiries.expired_at is not null then 'expired'
            when tenures.resigned_at <= coalesce(tenures.superseded_at, tenures.resigned_at)
                then 'resigned'
            when tenures.superseded_at is not null then 'superseded'
            else 'open'
        end as end_kind
    from tenures
    left join expiries using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
)

select * from final
