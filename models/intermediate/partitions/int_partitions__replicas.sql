with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

described as (
    select * from {{ ref('stg_captures__topic_partitions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ placed('described', at='captured_at') }}
),

statements as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        logged_at as reported_at,
        node_id,
        source_path,
        byte_offset,
        replicas
    from claims
    where size(replicas) > 0
    union all
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.captured_at as reported_at,
        cast(null as int) as node_id,
        placed.source_path,
        placed.byte_offset,
        placed.replicas
    from placed
    left join lives on {{ placed_in_life('placed', at='captured_at') }}
    where size(placed.replicas) > 0 and placed.captured_at is not null
),

compared as (
    select
        *,
        lag(replicas) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, source_path, byte_offset
        ) as previous_replicas
    from statements
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at,
        source_path,
        byte_offset,
        replicas,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence
    from compared
    where previous_replicas is null or previous_replicas <> replicas
)

select * from final
