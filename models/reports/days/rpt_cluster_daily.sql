with clusters as (
    select
        cluster_id,
        min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at,
        max_by(kafka_version, cluster_incarnation) as kafka_version
    from {{ ref('dim_clusters') }}
    group by cluster_id
),

daily as (
    select * from {{ ref('int_days__measures') }}
),

partitions as (
    select
        cluster_id,
        count(*) as partitions
    from {{ ref('dim_partitions') }}
    group by cluster_id
),

-- Every day from the first evidence to the last, including days without any logs.
days as (
    select
        *,
        explode(
            sequence(cast(first_seen_at as date), cast(last_seen_at as date), interval 1 day)
        ) as event_date
    from clusters
    where first_seen_at is not null
),

summed as (
    select
        days.cluster_id,
        days.event_date,
        min(days.kafka_version) as kafka_version,
        coalesce(sum(daily.value) filter (where daily.measure = 'records'), 0) as records,
        count(distinct daily.node_id) filter (where daily.measure = 'records')
            as nodes_with_records,
        min(partitions.partitions) as partitions,
        unix_millis(least(max(days.last_seen_at), cast(date_add(days.event_date, 1) as timestamp)))
        - unix_millis(greatest(min(days.first_seen_at), cast(days.event_date as timestamp)))
            as observed_ms,
        {{ measures(daily_measures(), "sum(value) filter (where measure = 'records') > 0") }}
    from days
    left join daily on days.cluster_id = daily.cluster_id and days.event_date = daily.event_date
    left join partitions on days.cluster_id = partitions.cluster_id
    group by days.cluster_id, days.event_date
),

final as (
    select
        {{ row_key(['cluster_id', 'event_date']) }} as cluster_day_key,
        cluster_id,
        event_date,
        if(records > 0, 'known', 'unknown') as evidence_state,
        kafka_version,
        records,
        nodes_with_records,
        partitions,
        observed_ms,
        {%- for measure in daily_measures() %}
            {{ measure.name }},
        {%- endfor %}
        1 - try_divide(leaderless_ms, partitions * observed_ms) as availability_ratio,
        -- The same weekday of the four weeks before, where there is evidence of them.
        avg(elections_leader_lost) over (
            partition by cluster_id, weekday(event_date)
            order by event_date
            rows between 4 preceding and 1 preceding
        ) as elections_leader_lost_baseline,
        avg(coalesce(incidents, 0)) over (
            partition by cluster_id, weekday(event_date)
            order by event_date
            rows between 4 preceding and 1 preceding
        ) as incidents_baseline
    from summed
)

select * from final
