with hours as (
    select
        * except (metric),
        metric as metric_name
    from {{ ref('int_metrics__hours') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'metric_name', 'attribute', 'labels_text', 'hour_at'
            ])
        }} as metrics_hourly_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        metric_name,
        attribute,
        labels,
        labels_text,
        unit,
        kind,
        hour_at,
        cast(hour_at as date) as hour_date,
        value_min,
        value_avg,
        value_max,
        value_last,
        try_divide(increase * 1000, elapsed_ms) as rate_per_second,
        resets,
        samples,
        first_sampled_at,
        last_sampled_at,
        evidence,
        samples as evidence_count,
        {{
            warnings({
                'the previous sample is more than an hour older': 'longest_ms > 3600000',
                'the counter was reset': 'resets > 0',
                'no value is a number': 'value_last is null',
                'dated by the last change of the file: its text names no time': 'coalesce(is_dated_by_file, false)'
            })
        }} as warnings
    from hours
)

select * from final
