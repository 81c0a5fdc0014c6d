with incidents as (
    select * from {{ ref('fct_incidents') }}
),

affected as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        explode(nodes) as node_id
    from incidents
),

final as (
    select
        {{ row_key(['incident_key', 'node_id']) }} as incident_node_key,
        incident_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id
    from affected
)

select * from final
