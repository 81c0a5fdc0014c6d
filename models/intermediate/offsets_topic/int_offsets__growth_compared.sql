with hours as (
    select * from {{ ref('int_offsets__hours_grown') }}
),

siblings_compared as (
    select
        *,
        count(*) over (
            partition by cluster_id, cluster_incarnation, node_id, hour_at
        ) as siblings,
        percentile_approx(growth_24h, 0.5) over (
            partition by cluster_id, cluster_incarnation, node_id, hour_at
        ) as sibling_growth_24h,
        -- A day of its past, and no older than a week before it.
        max(growth_24h) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by unix_seconds(hour_at)
            range between 691200 preceding and 86400 preceding
        ) as past_growth_24h,
        count(*) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by unix_seconds(hour_at)
            range between 691200 preceding and 86400 preceding
        ) as past_hours,
        sort_array(
            collect_list(struct(node_id, growth_24h)) over (
                partition by cluster_id, cluster_incarnation, partition_id, hour_at
            )
        ) as replicas
    from hours
),

replicas_compared as (
    select
        * except (replicas),
        filter(replicas, replica -> replica.node_id <> node_id).growth_24h as replica_growths
    from siblings_compared
),

-- The middle of what the other replicas grew by; of two, the lower.
final as (
    select
        * except (replica_growths),
        get(sort_array(replica_growths), cast((size(replica_growths) - 1) div 2 as int))
            as replica_growth_24h
    from replicas_compared
)

select * from final
