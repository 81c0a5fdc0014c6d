with partitions as (
    select * from {{ ref('dim_partitions') }}
    where first_seen_at is not null
),

observed as (
    select * from {{ ref('int_days__observed') }}
    where first_seen_at is not null
),

bounds as (
    select
        partitions.partition_key,
        partitions.topic_key,
        partitions.cluster_id,
        partitions.cluster_incarnation,
        partitions.topic_name,
        partitions.topic_incarnation,
        partitions.partition_id,
        partitions.ended_at,
        greatest(partitions.first_seen_at, observed.first_seen_at) as observed_from,
        least(partitions.ended_at, observed.last_seen_at) as observed_until
    from partitions
    inner join observed using (cluster_id, cluster_incarnation)
),

final as (
    select
        * except (observed_until),
        greatest(observed_from, observed_until) as observed_until
    from bounds
)

select * from final
