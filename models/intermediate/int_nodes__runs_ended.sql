with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

losses as (
    select * from {{ ref('stg_logs__node_losses') }}
),

-- A process that is killed says nothing; its sockets close at once, and its neighbours tell. Where a whole host is lost they
-- notice only when their requests time out, after 30 s at the earliest.
missed as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number,
        min(
            struct(
                losses.logged_at, losses.node_id, losses.source_path, losses.byte_offset
            )
        ) as first_loss
    from runs
    inner join losses
        on
            runs.cluster_id = losses.cluster_id
            and runs.node_id = losses.lost_node_id
            and runs.last_seen_at < losses.logged_at
            and runs.next_started_at > losses.logged_at
            and losses.logged_at < runs.last_seen_at + interval 30 seconds
    where coalesce(runs.stopped_at, runs.stopping_at, runs.failed_at) is null
    group by runs.cluster_id, runs.node_id, runs.run_number
),

final as (
    select
        runs.* except (stopped_at, evidence, evidence_count),
        coalesce(
            runs.stopped_at,
            runs.stopping_at,
            missed.first_loss.logged_at,
            case
                when runs.failed_at is not null or runs.next_started_at is not null
                    then runs.last_seen_at
            end
        ) as stopped_at,
        case
            -- A KRaft controller without a broker role says that it stops, but not that it has stopped.
            when runs.stopped_at is not null or runs.stopping_at is not null then 'clean'
            when runs.failed_at is not null then 'fatal'
            when runs.next_started_at is not null then 'killed'
            else 'open'
        end as end_kind,
        if(
            missed.first_loss is null,
            runs.evidence,
            slice(
                concat(
                    array(
                        named_struct(
                            'node_id', missed.first_loss.node_id,
                            'source_path', missed.first_loss.source_path,
                            'byte_offset', missed.first_loss.byte_offset
                        )
                    ),
                    runs.evidence
                ),
                1,
                10
            )
        ) as evidence,
        runs.evidence_count + if(missed.first_loss is null, 0, 1) as evidence_count
    from runs
    left join missed
        on
            runs.cluster_id = missed.cluster_id
            and runs.node_id = missed.node_id
            and runs.run_number = missed.run_number
)

select * from final
