with incidents as (
    select * from {{ ref('fct_incidents') }}
),

affected as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        explode(groups) as group_id
    from incidents
),

final as (
    select
        {{ row_key(['incident_key', 'group_id']) }} as incident_group_key,
        incident_key,
        {{ cluster_key() }} as cluster_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        group_id
    from affected
)

select * from final
