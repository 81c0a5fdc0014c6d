with leaders as (
    select * from {{ ref('stg_metrics__leaders') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

sampled as (
    select
        cluster_id,
        node_id,
        '@leaders_on_node' as setting,
        leaders as value,
        sampled_at as measured_at,
        source_path,
        byte_offset
    from leaders
),

-- Where nobody sampled it: the partitions that a node leads at the end of the logs.
counted as (
    select
        cluster_id,
        leader_id as node_id,
        '@leaders_on_node' as setting,
        count(*) as value,
        max(elected_at) as measured_at,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset
    from epochs
    where held_until is null and leader_id >= 0
    group by cluster_id, leader_id
),

unioned as (
    select * from sampled
    union all
    select * from counted
),

final as (
    select
        cluster_id,
        node_id,
        setting,
        max(value) as value,
        max_by(
            struct(measured_at, source_path, byte_offset),
            struct(value, measured_at, source_path, byte_offset)
        ) as line
    from unioned
    group by cluster_id, node_id, setting
)

select * from final
