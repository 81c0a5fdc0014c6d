with incarnations as (
    select * from {{ ref('int_clusters__incarnations_described') }}
),

final as (
    select
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        kafka_cluster_id,
        cluster_mode,
        kafka_version,
        valid_from,
        valid_to,
        first_seen_at,
        last_seen_at,
        nodes
    from incarnations
)

select * from final
