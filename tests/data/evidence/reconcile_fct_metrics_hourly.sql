-- All samples of bronze that have a time and say a value for the first time are in the hours, with the same total.
with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

hours as (
    select * from {{ ref('fct_metrics_hourly') }}
),

expected as (
    select
        cluster_id,
        metric,
        count(*) as samples,
        max(if(isnan(value), null, value)) as value_max
    from samples
    group by cluster_id, metric
),

found as (
    select
        cluster_id,
        metric_name,
        sum(samples) as samples,
        max(value_max) as value_max
    from hours
    group by cluster_id, metric_name
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        coalesce(expected.metric, found.metric_name) as metric_name,
        expected.samples as expected_samples,
        found.samples as found_samples
    from expected
    full outer join found
        on expected.cluster_id = found.cluster_id and expected.metric = found.metric_name
    where
        not expected.samples <=> found.samples
        or not expected.value_max <=> found.value_max
)

select * from final
