with leaders as (
    select * from {{ ref('stg_metrics__leaders') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

-- Where nobody sampled it: the partitions that a node leads at the end of the logs.
final as (
    select
        cluster_id,
        node_id,
        '@leaders_on_node' as setting,
        cast(leaders as double) as value,
        sampled_at as measured_at,
        source_path,
        byte_offset
    from leaders
    union all
    select
        cluster_id,
        leader_id as node_id,
        '@leaders_on_node' as setting,
        cast(count(*) as double) as value,
        max(elected_at) as measured_at,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset
    from epochs
    where held_until is null and leader_id >= 0
    group by cluster_id, leader_id
)

select * from final
