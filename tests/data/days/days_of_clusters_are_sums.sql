-- What nodes have on a day is at most what their cluster has; a day of the fleet is the sum of its clusters' days.
with clusters as (
    select * from {{ ref('rpt_cluster_daily') }}
),

nodes as (
    select * from {{ ref('rpt_node_daily') }}
),

fleet as (
    select * from {{ ref('rpt_fleet_daily') }}
),

nodes_summed as (
    select
        cluster_id,
        event_date,
        {%- for measure in node_measures() %}
            sum({{ measure.name }}) as {{ measure.name }},
        {%- endfor %}
        sum(records) as records
    from nodes
    group by cluster_id, event_date
),

clusters_summed as (
    select
        event_date,
        count(*) as clusters,
        {%- for measure in daily_measures() %}
            sum({{ measure.name }}) as {{ measure.name }},
        {%- endfor %}
        sum(partition_observed_ms) as partition_observed_ms
    from clusters
    group by event_date
)

select
    'cluster' as what,
    clusters.cluster_id,
    clusters.event_date
from clusters
inner join nodes_summed
    on
        clusters.cluster_id = nodes_summed.cluster_id
        and clusters.event_date = nodes_summed.event_date
where
    nodes_summed.records > clusters.records
    {%- for measure in node_measures() %}
        or nodes_summed.{{ measure.name }} > clusters.{{ measure.name }}
    {%- endfor %}
union all
select
    'fleet' as what,
    cast(null as string) as cluster_id,
    fleet.event_date
from fleet
full outer join clusters_summed on fleet.event_date = clusters_summed.event_date
where
    not fleet.clusters <=> clusters_summed.clusters
    {%- for measure in daily_measures() %}
        or not fleet.{{ measure.name }} <=> clusters_summed.{{ measure.name }}
    {%- endfor %}
    or not fleet.partition_observed_ms <=> clusters_summed.partition_observed_ms
    or abs(
        fleet.availability_ratio
        - (1 - clusters_summed.leaderless_ms / nullif(clusters_summed.partition_observed_ms, 0))
    )
    > 1e-9
