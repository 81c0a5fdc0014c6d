with clusters as (
    select
        cluster_id,
        max(last_seen_at) as last_seen_at
    from {{ ref('dim_clusters') }}
    group by cluster_id
),

windows as (
    {%- for measure in daily_measures() if measure.started_at %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            cluster_id,
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

-- A stretch without an end lasts as far as there is evidence.
closed as (
    select
        windows.cluster_id,
        windows.node_id,
        windows.measure,
        windows.started_at,
        greatest(windows.started_at, coalesce(windows.ended_at, clusters.last_seen_at)) as ended_at
    from windows
    inner join clusters on windows.cluster_id = clusters.cluster_id
    where windows.started_at is not null
),

by_day as (
    select
        *,
        explode(
            sequence(cast(started_at as date), cast(ended_at as date), interval 1 day)
        ) as event_date
    from closed
),

final as (
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
)

select * from final
