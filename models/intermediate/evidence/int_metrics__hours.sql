with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Hashed, so that a number decides the sort; both windows need the same order.
hashed as (
    select
        *,
        xxhash64(cluster_id, node_id, metric, attribute, labels_text) as series,
        date_trunc('hour', sampled_at) as hour_at,
        if(isnan(value), null, value) as number
    from samples
),

compared as (
    select
        *,
        lag(number) over (
            partition by series, cluster_id, node_id, metric, attribute, labels_text
            order by hour_at, sampled_at
        ) as previous_number,
        lag(sampled_at) over (
            partition by series, cluster_id, node_id, metric, attribute, labels_text
            order by hour_at, sampled_at
        ) as previous_at,
        row_number() over (
            partition by series, cluster_id, node_id, metric, attribute, labels_text, hour_at
            order by sampled_at
        ) as rank
    from hashed
),

-- The growth between two samples belongs to the hour of the later one.
grown as (
    select
        *,
        if(kind = 'counter', {{ counter_increase('number', 'previous_number') }}, null)
            as increase,
        if(
            kind = 'counter' and number >= 0 and previous_number >= 0,
            unix_millis(sampled_at) - unix_millis(previous_at),
            null
        ) as elapsed_ms
    from compared
),

hours as (
    select
        series,
        cluster_id,
        node_id,
        metric,
        attribute,
        labels_text,
        hour_at,
        max_by(labels, sampled_at) as labels,
        max_by(unit, sampled_at) as unit,
        max_by(kind, sampled_at) as kind,
        min(number) as value_min,
        avg(number) as value_avg,
        max(number) as value_max,
        max_by(number, if(number is null, null, sampled_at)) as value_last,
        sum(increase) as increase,
        sum(elapsed_ms) as elapsed_ms,
        max(elapsed_ms) as longest_ms,
        count_if(number < previous_number and kind = 'counter') as resets,
        count(*) as samples,
        bool_or(sampled_known_by = 'modified') as is_dated_by_file,
        min(sampled_at) as first_sampled_at,
        max(sampled_at) as last_sampled_at,
        {{ evidence('rank <= 10', at='sampled_at') }} as evidence
    from grown
    group by series, cluster_id, node_id, metric, attribute, labels_text, hour_at
),

final as (
    {{ placed('hours', at='last_sampled_at') }}
)

select * from final
