with lines as (
    select * from {{ ref('int_brokers__fence_lines') }}
),

claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

-- Each announcement is of one fencing: the one that its controller prints next, and another's only where that is missing.
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

-- Real is what a controller announced, and what a controller that had read the log before prints for the first time.
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
