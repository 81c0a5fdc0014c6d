with claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

records as (
    select * from {{ ref('int_brokers__registration_records') }}
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
    group by
        claims.cluster_id,
        claims.cluster_incarnation,
        claims.broker_id,
        claims.node_id,
        claims.logged_at,
        claims.source_path,
        claims.byte_offset
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
        )) as line
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

final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        fencing_number,
        line.node_id,
        line.logged_at,
        line.source_path,
        line.byte_offset
    from reported
)

select * from final
