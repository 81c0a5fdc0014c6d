with losses as (
    select
        *,
        coalesce(cast(node_id as string), process_name) as lost_by
    from {{ ref('stg_logs__node_losses') }}
),

-- Where lines of one neighbour follow lines of another, the time of the other's.
adjacent as (
    select
        *,
        if(lag(lost_by) over (by_time) <> lost_by, lag(logged_at) over (by_time), null)
            as before_first,
        if(lead(lost_by) over (by_time) <> lost_by, lead(logged_at) over (by_time), null)
            as after_last
    from losses
    window by_time as (partition by cluster_id, lost_node_id order by logged_at, lost_by)
),

-- The nearest lines of others, by range, not by rows: lines of one node and time have no order.
others as (
    select
        *,
        last_value(before_first, true) over (
            partition by cluster_id, lost_node_id
            order by logged_at, lost_by
            range between unbounded preceding and current row
        ) as other_before,
        last_value(after_last, true) over (
            partition by cluster_id, lost_node_id
            order by logged_at desc, lost_by desc
            range between unbounded preceding and current row
        ) as other_after
    from adjacent
),

-- A process that dies loses all its connections at once. This compares a line with the nearest ones
-- of other neighbours only: in a storm thousands of lines are within a second of each.
shared as (
    select
        * except (lost_by, before_first, after_last, other_before, other_after),
        coalesce(other_before >= logged_at - interval 1 second, false)
        or coalesce(other_after <= logged_at + interval 1 second, false) as is_shared
    from others
),

-- The sockets of a process that ends are closed; a request that only fails may have waited for
-- long. One client may have closed an idle connection, or be cut off itself.
final as (
    select
        *,
        is_shared or {{ has_role('client_disconnection') }} as is_abrupt
    from shared
    where node_id is not null or is_shared
)

select * from final
