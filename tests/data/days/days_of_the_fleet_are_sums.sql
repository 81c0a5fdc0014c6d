-- A day of the fleet is the sum of its clusters' days, and so is the availability.
with clusters as (
    select * from {{ ref('rpt_cluster_daily') }}
),

fleet as (
    select * from {{ ref('rpt_fleet_daily') }}
),

summed as (
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
    fleet.*,
    summed.event_date as summed_date
from fleet
full outer join summed on fleet.event_date = summed.event_date
where
    not fleet.clusters <=> summed.clusters
    {%- for measure in daily_measures() %}
        or not fleet.{{ measure.name }} <=> summed.{{ measure.name }}
    {%- endfor %}
    or not fleet.partition_observed_ms <=> summed.partition_observed_ms
    or abs(
        fleet.availability_ratio
        - (1 - summed.leaderless_ms / nullif(summed.partition_observed_ms, 0))
    )
    > 1e-9
    or (fleet.availability_ratio is null) <> (coalesce(summed.partition_observed_ms, 0) = 0)
