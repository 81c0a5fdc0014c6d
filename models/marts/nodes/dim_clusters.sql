with incarnations as (
    select * from {{ ref('int_clusters__incarnations_described') }}
),

attributes as (
    select * from {{ ref('cluster_attributes') }}
),

final as (
    select
        {{ cluster_key('incarnations') }} as cluster_key,
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        incarnations.kafka_cluster_id,
        incarnations.cluster_mode,
        incarnations.kafka_version,
        incarnations.valid_from,
        incarnations.valid_to,
        incarnations.first_seen_at,
        incarnations.last_seen_at,
        incarnations.nodes,
        attributes.environment,
        attributes.region,
        attributes.team,
        attributes.tier,
        attributes.slo_target
    from incarnations
    left join attributes on incarnations.cluster_id = attributes.cluster_id
)

select * from final
