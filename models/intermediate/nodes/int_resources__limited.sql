{{ config(materialized='table', file_format='parquet') }}

with observed as (
    select * from {{ ref('int_resources__observed') }}
),

limits as (
    select * from {{ ref('stg_captures__resource_limits') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A metric and its limit are two lines of one scrape; a record that says it is in several files.
sampled as (
    select
        cluster_id,
        node_id,
        if(node_id is null, process_name, null) as process_name,
        process_id,
        sampled_at,
        resource,
        -- A socket takes one of the open files, an index of a segment one of the maps.
        case
            when resource like 'sockets%' then 'open_files'
            when resource = 'segment_maps' then 'memory_maps'
            else resource
        end as limited_as,
        max(value) as value,
        max(limit_value) as own_limit,
        max(is_refused) as is_refused,
        max(is_doubtful) as is_doubtful,
        {{ evidence(at='sampled_at') }} as evidence,
        count(*) as evidence_count
    from observed
    group by
        cluster_id,
        node_id,
        if(node_id is null, process_name, null),
        process_id,
        sampled_at,
        resource
    having count(value) > 0 or max(is_refused)
),

stated as (
    select
        cluster_id,
        node_id,
        'open_files' as resource,
        max_by(open_files_limit, struct(captured_at, open_files_limit)) as limit_value
    from limits
    where open_files_limit is not null
    group by cluster_id, node_id
    union all
    select
        cluster_id,
        node_id,
        'memory_maps' as resource,
        max_by(memory_maps_limit, struct(captured_at, memory_maps_limit)) as limit_value
    from limits
    where memory_maps_limit is not null
    group by cluster_id, node_id
),

limited as (
    select
        sampled.*,
        coalesce(sampled.own_limit, of_nodes.limit_value, of_clusters.limit_value) as limit_value,
        sampled.own_limit is null as is_limit_elsewhere
    from sampled
    left join stated as of_nodes
        on
            sampled.cluster_id = of_nodes.cluster_id
            and sampled.node_id = of_nodes.node_id
            and sampled.limited_as = of_nodes.resource
    left join stated as of_clusters
        on
            sampled.cluster_id = of_clusters.cluster_id
            and of_clusters.node_id is null
            and sampled.limited_as = of_clusters.resource
),

final as (
    {{ placed('limited', at='sampled_at') }}
)

select * from final
