with told as (
    select * from {{ ref('int_partitions__epochs_told') }}
),

eligible_replicas as (
    select * from {{ ref('int_clusters__eligible_replicas') }}
),

-- Where a cluster keeps eligible leader replicas, the last one in sync leaves the set too when it goes; else it stays in it.
final as (
    select
        told.* except (isr),
        if(eligible_replicas.cluster_id is null, told.isr, cast(array() as array<int>)) as isr,
        eligible_replicas.cluster_id is not null and not coalesce(size(told.isr) = 0, false)
            as is_isr_emptied
    from told
    left join eligible_replicas
        on
            told.leader_id = -1
            and told.cluster_id = eligible_replicas.cluster_id
            and told.cluster_incarnation = eligible_replicas.cluster_incarnation
            and told.elected_at >= eligible_replicas.kept_from
            and told.elected_at < eligible_replicas.kept_until
)

select * from final
