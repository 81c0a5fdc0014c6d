with losses as (
    select * from {{ ref('stg_logs__node_losses') }}
),

-- A process that dies loses all its connections at once.
shared as (
    select
        *,
        min(node_id) over (same_second) <> max(node_id) over (same_second) as is_shared
    from losses
    window same_second as (
        partition by cluster_id, lost_node_id
        order by logged_at
        range between interval 1 second preceding and interval 1 second following
    )
),

-- The sockets of a process that ends are closed; a request that only fails may have waited for
-- long.
final as (
    select
        *,
        is_shared or {{ has_role('client_disconnection') }} as is_abrupt
    from shared
)

select * from final
