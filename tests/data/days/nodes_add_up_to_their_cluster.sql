-- What the nodes have of a measure on a day, and what belongs to no node whose day is known, is what the cluster has.
{%- set measures_of_both = daily_measures() | rejectattr('node', 'equalto', 'null') | list %}
with node_days as (
    select * from {{ ref('rpt_node_daily') }}
    where evidence_state = 'known'
),

cluster_days as (
    select * from {{ ref('rpt_cluster_daily') }}
    where evidence_state = 'known'
),

daily as (
    select * from {{ ref('int_days__measures') }}
),

of_nodes as (
    select
        cluster_id,
        event_date,
        stack(
            {{ measures_of_both | length }},
            {%- for measure in measures_of_both %}
                '{{ measure.name }}',
                {{ measure.of_node.name or measure.name }}{{ ',' if not loop.last }}
            {%- endfor %}
        ) as (measure, value)
    from node_days
),

of_clusters as (
    select
        cluster_id,
        event_date,
        stack(
            {{ measures_of_both | length }},
            {%- for measure in measures_of_both %}
                '{{ measure.name }}',
                {{ measure.name }}{{ ',' if not loop.last }}
            {%- endfor %}
        ) as (measure, value)
    from cluster_days
),

of_nobody as (
    select
        daily.cluster_id,
        daily.event_date,
        daily.measure,
        daily.value
    from daily
    left anti join node_days
        on
            daily.cluster_id = node_days.cluster_id
            and daily.node_id = node_days.node_id
            and daily.event_date = node_days.event_date
),

parts as (
    select * from of_nodes
    union all
    select
        cluster_id,
        event_date,
        measure,
        value
    from of_nobody
),

added as (
    select
        cluster_id,
        event_date,
        measure,
        sum(value) as value
    from parts
    group by cluster_id, event_date, measure
),

final as (
    select
        of_clusters.cluster_id,
        of_clusters.event_date,
        of_clusters.measure,
        of_clusters.value as of_cluster,
        added.value as of_its_parts
    from of_clusters
    left join added
        on
            of_clusters.cluster_id = added.cluster_id
            and of_clusters.event_date = added.event_date
            and of_clusters.measure = added.measure
    where of_clusters.value <> coalesce(added.value, 0)
)

select * from final
