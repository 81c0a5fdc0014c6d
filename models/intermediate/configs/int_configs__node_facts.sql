{{ config(materialized='table') }}

with measured as (
    select * from {{ ref('int_configs__node_measures') }}
),

brokers as (
    select * from {{ ref('int_configs__of_brokers') }}
),

-- The broker settings that limit clients have no node.
reported as (
    select
        cluster_id,
        node_id,
        setting,
        value,
        line
    from measured
    union all
    select
        cluster_id,
        cast(null as int) as node_id,
        setting,
        value,
        line
    from brokers
),

final as (
    select
        cluster_id,
        node_id,
        map_from_entries(collect_list(struct(setting, value))) as facts,
        map_from_entries(collect_list(struct(setting, line))) as lines
    from reported
    group by cluster_id, node_id
)

select * from final
