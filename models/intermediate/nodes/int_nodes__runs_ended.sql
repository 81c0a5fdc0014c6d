with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

heartbeats as (
    select * from {{ ref('int_nodes__last_heartbeats') }}
),

losses as (
    select * from {{ ref('int_nodes__connection_losses') }}
),

failures as (
    select * from {{ ref('int_processes__failures') }}
    where node_id is not null and failed_at is not null
),

-- What failed while a run lasted. Being out of something ends a run only if it is the last that the process says before the next one starts; and a
-- process that goes on is not the one that the kernel killed, or whose report somebody kept.
failed as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number,
        max_by(
            struct(
                failures.process_failure_key,
                failures.failure_kind,
                failures.is_capture,
                slice(failures.evidence, 1, 1) as evidence,
                coalesce(failures.ended_at, failures.last_sign_at) as ended_at
            ),
            struct(failures.is_end, failures.failed_at, failures.process_failure_key)
        ) as failure
    from runs
    inner join failures
        on
            runs.cluster_id = failures.cluster_id
            and runs.node_id = failures.node_id
            and coalesce(runs.started_at, runs.first_seen_at) <= failures.last_sign_at
            and coalesce(runs.next_started_at > failures.failed_at, true)
            and (
                not failures.is_capture
                or runs.last_seen_at <= failures.ended_at + interval 1 minute
            )
            and (
                failures.is_end
                or (
                    runs.next_started_at is not null
                    and runs.stopping_at is null
                    and runs.stopped_at is null
                    and runs.fell_silent_at <= failures.last_sign_at + interval 1 minute
                )
            )
    group by runs.cluster_id, runs.node_id, runs.run_number
),

-- A process that is killed logs nothing, but its sockets close at once and its neighbours log that.
-- If a whole host is lost, they notice only when their requests time out, after 30 s at the
-- earliest. After a longer silence a loss that several nodes log at once counts first, then a
-- closed connection, because idle ones are closed, too.
missed as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number,
        min_by(
            struct(
                losses.logged_at,
                losses.node_id,
                losses.source_path,
                losses.byte_offset,
                not losses.is_shared
                and losses.logged_at > runs.fell_silent_at + interval 10 minutes as is_late
            ),
            struct(
                not losses.is_shared
                and losses.logged_at >= runs.fell_silent_at + interval 30 seconds as is_doubtful,
                losses.logged_at, losses.node_id, losses.source_path, losses.byte_offset
            )
        ) as first_loss
    from runs
    inner join losses
        on
            runs.cluster_id = losses.cluster_id
            and runs.node_id = losses.lost_node_id
            and runs.fell_silent_at < losses.logged_at
            and runs.next_started_at > losses.logged_at
            and (losses.is_abrupt or losses.logged_at < runs.fell_silent_at + interval 30 seconds)
    where coalesce(runs.stopped_at, runs.stopping_at, runs.failed_at) is null
    group by runs.cluster_id, runs.node_id, runs.run_number
),

-- The time derived from a fencing is an estimate, used only if nobody noticed the end itself.
noticed as (
    select
        runs.*,
        if(
            missed.first_loss.logged_at
            <= coalesce(heartbeats.fencing.fenced_at, missed.first_loss.logged_at),
            missed.first_loss,
            named_struct(
                'logged_at', greatest(runs.fell_silent_at, heartbeats.fencing.last_heartbeat_at),
                'node_id', heartbeats.fencing.reporting_node_id,
                'source_path', heartbeats.fencing.source_path,
                'byte_offset', heartbeats.fencing.byte_offset,
                'is_late', false
            )
        ) as sign,
        coalesce(heartbeats.fencing.fenced_at < missed.first_loss.logged_at, false)
        or missed.first_loss is null as is_by_fencing,
        failed.failure
    from runs
    left join missed
        on
            runs.cluster_id = missed.cluster_id
            and runs.node_id = missed.node_id
            and runs.run_number = missed.run_number
    left join heartbeats
        on
            runs.cluster_id = heartbeats.cluster_id
            and runs.node_id = heartbeats.node_id
            and runs.run_number = heartbeats.run_number
    left join failed
        on
            runs.cluster_id = failed.cluster_id
            and runs.node_id = failed.node_id
            and runs.run_number = failed.run_number
),

final as (
    select
        * except (
            stopped_at,
            fell_silent_at,
            final_line,
            evidence,
            evidence_count,
            sign,
            failure,
            is_by_fencing
        ),
        coalesce(
            stopped_at,
            if(stopping_at is not null, fell_silent_at, null),
            if(failure.is_capture, failure.ended_at, null),
            if(sign.source_path is not null, sign.logged_at, null),
            case when failed_at is not null or next_started_at is not null then fell_silent_at end,
            failure.ended_at
        ) as stopped_at,
        sign.source_path is not null
        and is_by_fencing
        and not coalesce(failure.is_capture, false) as is_end_estimated,
        coalesce(sign.is_late, false) and not coalesce(failure.is_capture, false) as is_end_late,
        case
            -- A process that cannot start stops what it had started.
            when failed_at is not null then 'fatal'
            when failure.failure_kind = 'killed' then 'killed'
            when failure.failure_kind is not null then 'fatal'
            when stopped_at is not null then 'clean'
            -- A KRaft controller without a broker role says that it stops, but not that it has stopped; a broker that does not say
            -- so was killed meanwhile.
            when stopping_at is not null and (is_kraft or next_started_at is null) then 'clean'
            when next_started_at is not null then 'killed'
            else 'open'
        end as end_kind,
        failure.process_failure_key,
        failure.failure_kind,
        sign.source_path is not null or coalesce(failure.is_capture, false) as is_end_noticed,
        -- What tells its end comes first: the report of the JVM or the kernel, or what others noticed.
        slice(
            concat(
                if(coalesce(failure.is_capture, false), failure.evidence, array()),
                if(
                    sign.source_path is null,
                    array(),
                    array(struct(sign.node_id, sign.source_path, sign.byte_offset))
                ),
                evidence
            ),
            1,
            10
        ) as evidence,
        evidence_count
        + if(coalesce(failure.is_capture, false), 1, 0)
        + if(sign.source_path is null, 0, 1) as evidence_count
    from noticed
)

select * from final
