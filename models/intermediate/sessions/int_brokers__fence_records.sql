with claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

records as (
    select * from {{ ref('int_brokers__registration_records') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

left_since as (
    select
        *,
        min(case when is_leaving then logged_at end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
        ) as leaving_at
    from records
    where not {{ has_role('unfencing_grant') }}
),

compared as (
    select
        *,
        lag(is_fencing) over (registration) as was_fencing,
        sum(case when is_fencing and not is_starting then 1 else 0 end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
            order by logged_at, node_id, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as fencings_before
    from left_since
    where (is_fencing and (leaving_at is null or logged_at < leaving_at)) or is_unfencing
    window registration as (
        partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
        order by logged_at, node_id, byte_offset
    )
),

-- A broker is fenced several times in one epoch if it comes back in between. Every controller
-- prints every record, and again after each of its starts: lines without an unfencing between them
-- are one fencing.
numbered as (
    select
        *,
        sum(case when is_fencing and not coalesce(was_fencing, false) then 1 else 0 end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
            order by logged_at, node_id, byte_offset
            rows between unbounded preceding and current row
        ) as fencing_number
    from compared
),

-- One row per line that says that a broker is fenced.
lines as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        fencing_number,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        is_starting,
        not is_starting and coalesce(fencings_before, 0) = 0 as is_first_known
    from numbered
    where is_fencing
),

-- Each announcement belongs to one fencing: the one that its controller prints next, or another
-- controller's if that is missing.
announced as (
    select
        claims.cluster_id,
        claims.cluster_incarnation,
        claims.broker_id,
        claims.logged_at,
        claims.is_asked,
        min_by(
            struct(lines.broker_epoch, lines.fencing_number),
            struct(
                coalesce(lines.node_id <> claims.node_id, true),
                lines.is_starting,
                lines.logged_at < claims.logged_at,
                abs(unix_millis(lines.logged_at) - unix_millis(claims.logged_at)),
                lines.node_id,
                lines.byte_offset
            )
        ) as fencing
    from claims
    inner join lines
        on
            claims.cluster_id = lines.cluster_id
            and claims.cluster_incarnation = lines.cluster_incarnation
            and claims.broker_id = lines.broker_id
            and coalesce(claims.broker_epoch, lines.broker_epoch) <=> lines.broker_epoch
            and claims.logged_at >= lines.logged_at - interval 5 seconds
            and claims.logged_at <= lines.logged_at + interval 2 seconds
    where
        claims.is_by_leader
        and (not lines.is_starting or lines.node_id = claims.node_id)
        -- A broker that is fenced already may stop as well, which is no fencing.
        and (
            not claims.is_asked
            or coalesce(lines.node_id <> claims.node_id, true)
            or lines.logged_at >= claims.logged_at
        )
    group by
        claims.cluster_id,
        claims.cluster_incarnation,
        claims.broker_id,
        claims.node_id,
        claims.logged_at,
        claims.source_path,
        claims.byte_offset,
        claims.is_asked
),

-- A fencing is real if a controller announced it, or if a controller that had read the log before
-- prints it for the first time.
reported as (
    select
        lines.cluster_id,
        lines.cluster_incarnation,
        lines.broker_id,
        lines.broker_epoch,
        lines.fencing_number,
        min(struct(
            lines.is_starting,
            lines.logged_at,
            lines.node_id,
            lines.byte_offset,
            lines.source_path
        )) as line,
        coalesce(max(announced.is_asked), false) as is_granted,
        min(if(announced.is_asked, null, announced.logged_at)) as timed_out_at
    from lines
    left join announced
        on
            lines.cluster_id = announced.cluster_id
            and lines.cluster_incarnation = announced.cluster_incarnation
            and lines.broker_id = announced.broker_id
            and lines.broker_epoch <=> announced.fencing.broker_epoch
            and lines.fencing_number = announced.fencing.fencing_number
    group by
        lines.cluster_id,
        lines.cluster_incarnation,
        lines.broker_id,
        lines.broker_epoch,
        lines.fencing_number
    having max(lines.is_first_known) or count(announced.broker_id) > 0
),

-- A broker that leads nothing may stop at once: its registration is fenced without the record that
-- its controlled shutdown begins, which releases before 3.3 do not have at all. If no controller
-- says why it was fenced, the broker's own log tells that it was stopping.
judged as (
    select
        reported.*,
        (
            reported.timed_out_at is null
            or reported.timed_out_at > reported.line.logged_at + interval 2 seconds
        )
        and (reported.is_granted or count(runs.run_number) > 0) as is_asked
    from reported
    left join runs
        on
            reported.cluster_id = runs.cluster_id
            and reported.broker_id = runs.node_id
            and reported.line.logged_at >= runs.stopping_at
            and reported.line.logged_at
            <= coalesce(runs.stopped_at, runs.last_seen_at) + interval 10 seconds
            and (
                runs.next_started_at is null or reported.line.logged_at < runs.next_started_at
            )
    group by all
),

-- From 4.0 on the session of such a broker remains until it times out; its next process cannot
-- register before that. Nothing is written then: the registration is fenced already.
left_behind as (
    select
        judged.cluster_id,
        judged.cluster_incarnation,
        judged.broker_id,
        judged.broker_epoch,
        judged.fencing_number,
        judged.is_asked,
        min(judged.line) as line,
        min(
            if(
                runs.started_at is not null,
                struct(claims.logged_at, claims.node_id, claims.byte_offset, claims.source_path),
                null
            )
        ) as left_line
    from judged
    left join claims
        on
            judged.is_asked
            and judged.cluster_id = claims.cluster_id
            and judged.cluster_incarnation = claims.cluster_incarnation
            and judged.broker_id = claims.broker_id
            and judged.broker_epoch = claims.broker_epoch
            and judged.line.logged_at < claims.logged_at
            and claims.is_by_leader
            and not claims.is_asked
    left join runs
        on
            judged.cluster_id = runs.cluster_id
            and judged.broker_id = runs.node_id
            and judged.line.logged_at < runs.started_at
            and claims.logged_at > runs.started_at
    group by
        judged.cluster_id,
        judged.cluster_incarnation,
        judged.broker_id,
        judged.broker_epoch,
        judged.fencing_number,
        judged.is_asked
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        fencing_number,
        if(is_asked, left_line.node_id, line.node_id) as node_id,
        if(is_asked, left_line.logged_at, line.logged_at) as logged_at,
        if(is_asked, left_line.source_path, line.source_path) as source_path,
        if(is_asked, left_line.byte_offset, line.byte_offset) as byte_offset,
        is_asked as is_left_behind
    from left_behind
    where not is_asked or left_line is not null
)

select * from final
