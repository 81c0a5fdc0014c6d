{{ config(materialized='table', meta={'at': 'event_date'}) }}

with coverage as (
    select * from {{ ref('fct_parse_coverage_daily') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

-- A stretch of time counts on each day that it overlaps, with its milliseconds in that day.
lasting as (
    {%- for measure in daily_measures() if measure.started_at %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            cluster_id,
            cluster_incarnation,
            cast({{ measure.node or 'node_id' }} as int) as node_id,
            '{{ measure.name }}' as measure,
            cast({{ measure.started_at }} as timestamp) as started_at,
            cast({{ measure.ended_at }} as timestamp) as ended_at
        from {{ ref(measure.fact) }}
        {%- if measure.where %}
            where {{ measure.where }}
        {%- endif %}
    {%- endfor %}
),

-- A stretch without an end lasts until the last evidence of its incarnation of the cluster.
closed as (
    select
        lasting.cluster_id,
        lasting.node_id,
        lasting.measure,
        lasting.started_at,
        greatest(lasting.started_at, coalesce(lasting.ended_at, observed.last_seen_at)) as ended_at
    from lasting
    inner join observed
        on
            lasting.cluster_id = observed.cluster_id
            and lasting.cluster_incarnation = observed.cluster_incarnation
    where lasting.started_at is not null
),

by_day as (
    select
        *,
        explode(
            sequence(cast(started_at as date), cast(ended_at as date), interval 1 day)
        ) as event_date
    from closed
    where {{ since('ended_at') }}
),

durations as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        sum(
            unix_millis(least(ended_at, cast(date_add(event_date, 1) as timestamp)))
            - unix_millis(greatest(started_at, cast(event_date as timestamp)))
        ) as value
    from by_day
    group by cluster_id, node_id, measure, event_date
),

-- Events, each counted on one day.
counts as (
    {%- for measure in daily_measures() + measures_of_each_node() if measure.day %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            cluster_id,
            {% if measure.each -%}
                explode({{ measure.each }})
            {%- else -%}
                cast({{ measure.node or 'node_id' }} as int)
            {%- endif %} as node_id,
            '{{ measure.name }}' as measure,
            {{ measure.day }} as event_date,
            cast({{ measure.value or 1 }} as bigint) as value
        from {{ ref(measure.fact) }}
        {%- if measure.where %}
            where {{ measure.where }}
        {%- endif %}
    {%- endfor %}
),

gathered as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        cast(value as bigint) as value
    from counts
    union all
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        cast(value as bigint) as value
    from durations
    union all
    select
        cluster_id,
        node_id,
        'records' as measure,
        event_date,
        cast(records as bigint) as value
    from coverage
),

final as (
    select
        cluster_id,
        node_id,
        measure,
        event_date,
        sum(value) as value
    from gathered
    where event_date is not null and {{ since('event_date') }}
    group by cluster_id, node_id, measure, event_date
)

select * from final
