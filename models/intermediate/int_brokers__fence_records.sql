with records as (
    select * from {{ ref('int_brokers__registration_records') }}
),

claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

left_since as (
    select
        *,
        min(case when is_leaving then logged_at end) over (
            partition by cluster_id, cluster_incarnation, broker_id, broker_epoch
        ) as leaving_at
    from records
    where event_type <> 'broker_unfencing_granted'
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

-- A broker is fenced more than once in an epoch if it comes back in between, and every controller prints every record, after each of
-- its starts again: lines that follow each other without an unfencing speak of one fencing.
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

-- Each announcement is of one fencing: the one that its controller prints next, and another's only where that is missing.
announced as (
    select
        claims.cluster_id,
        claims.cluster_incarnation,
        claims.broker_id,
        min_by(
            struct(numbered.broker_epoch, numbered.fencing_number),
            struct(
                coalesce(numbered.node_id <> claims.node_id, true),
                numbered.is_starting,
                numbered.logged_at < claims.logged_at,
                abs(unix_millis(numbered.logged_at) - unix_millis(claims.logged_at)),
                numbered.node_id,
                numbered.byte_offset
            )
        ) as fencing
    from claims
    inner join numbered
        on
            claims.cluster_id = numbered.cluster_id
            and claims.cluster_incarnation = numbered.cluster_incarnation
            and claims.broker_id = numbered.broker_id
            and coalesce(claims.broker_epoch, numbered.broker_epoch) <=> numbered.broker_epoch
            and claims.logged_at >= numbered.logged_at - interval 5 seconds
            and claims.logged_at <= numbered.logged_at + interval 2 seconds
    where
        claims.is_by_leader
        and numbered.is_fencing
        and (not numbered.is_starting or numbered.node_id = claims.node_id)
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
real as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        fencing.broker_epoch,
        fencing.fencing_number
    from announced
    union
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        broker_epoch,
        fencing_number
    from numbered
    where is_fencing and not is_starting and coalesce(fencings_before, 0) = 0
),

told as (
    select
        numbered.cluster_id,
        numbered.cluster_incarnation,
        numbered.broker_id,
        numbered.broker_epoch,
        numbered.fencing_number,
        min(struct(
            numbered.is_starting,
            numbered.logged_at,
            numbered.node_id,
            numbered.byte_offset,
            numbered.source_path
        )) as line
    from numbered
    inner join real
        on
            numbered.cluster_id = real.cluster_id
            and numbered.cluster_incarnation = real.cluster_incarnation
            and numbered.broker_id = real.broker_id
            and numbered.broker_epoch <=> real.broker_epoch
            and numbered.fencing_number = real.fencing_number
    where numbered.is_fencing
    group by
        numbered.cluster_id,
        numbered.cluster_incarnation,
        numbered.broker_id,
        numbered.broker_epoch,
        numbered.fencing_number
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
    from told
)

select * from final
