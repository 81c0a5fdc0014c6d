{{ config(materialized='table', file_format='parquet') }}

with claims as (
    select * from {{ ref('int_partitions__claims_gathered') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ placed('claims') }}
),

-- The second and later lives of a topic name begin where a new id or a new birth is told; all before is the first.
final as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_life,
        placed.leader_epoch,
        placed.partition_epoch,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset,
        placed.event_type,
        placed.claim_kind,
        placed.witness,
        placed.topic_id,
        placed.state_before,
        placed.leader_id,
        placed.isr,
        placed.replicas,
        placed.controller_epoch,
        placed.controller_id,
        placed.start_offset
    from placed
    left join lives
        on
            placed.cluster_id = lives.cluster_id
            and placed.cluster_incarnation = lives.cluster_incarnation
            and placed.topic_name = lives.topic_name
            and lives.life_number > 1
            and (lives.partition_id is null or placed.partition_id = lives.partition_id)
            and case
                when placed.topic_id is not null and lives.topic_id is not null
                    then placed.topic_id = lives.topic_id
                else
                    placed.logged_at >= lives.born_at
                    and (lives.next_born_at is null or placed.logged_at < lives.next_born_at)
            end
)

select * from final
