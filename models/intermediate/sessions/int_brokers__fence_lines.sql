with records as (
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

-- A broker is fenced more than once in an epoch if it comes back in between, and every controller prints every record, after each of
-- its starts again: lines without an unfencing between them are one fencing.
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

final as (
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
)

select * from final
