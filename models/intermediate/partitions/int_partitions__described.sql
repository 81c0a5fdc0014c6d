with topic_partitions as (
    select * from {{ ref('stg_captures__topic_partitions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- A describe without a time cannot be put in order with anything.
dated as (
    select *
    from topic_partitions
    where captured_at is not null and topic_name is not null and partition_id is not null
),

placed as (
    {{ placed('dated', at='captured_at') }}
),

final as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.captured_at,
        placed.captured_known_by,
        placed.node_id,
        placed.source_path,
        placed.byte_offset,
        placed.row_number,
        placed.leader_id,
        placed.replicas,
        placed.isr
    from placed
    left join lives on {{ placed_in_life('placed', at='captured_at') }}
)

select * from final
