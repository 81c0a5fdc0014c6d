with observed as (
    select * from {{ ref('int_days__observed') }}
),

daily as (
    select * from {{ ref('int_days__measures') }}
),

partition_time as (
    select * from {{ ref('int_days__partition_time') }}
),

releases as (
    select * from {{ ref('int_days__releases') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

clusters as (
    select
        cluster_id,
        min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at
    from observed
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

-- The partitions that are observed at the beginning of the day, all day long, and those that come and go.
existing as (
    select
        days.*,
        coalesce(
            sum(partition_time.change) over (
                partition by days.cluster_id
                order by days.event_date
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) * 86400000 + coalesce(partition_time.change_ms, 0) as partition_observed_ms,
        nullif(
            sum(partition_time.change_of_existing) over (
                partition by days.cluster_id
                order by days.event_date
                rows between unbounded preceding and current row
            ),
            0
        ) as partitions
    from days
    left join partition_time
        on
            days.cluster_id = partition_time.cluster_id
            and days.event_date = partition_time.event_date
),

summed as (
    select
        existing.cluster_id,
        existing.event_date,
        coalesce(sum(daily.value) filter (where daily.measure = 'records'), 0) as records,
        count(distinct daily.node_id) filter (where daily.measure = 'records')
            as nodes_with_records,
        min(existing.partitions) as partitions,
        unix_millis(
            least(max(existing.last_seen_at), cast(date_add(existing.event_date, 1) as timestamp))
        )
        - unix_millis(
            greatest(min(existing.first_seen_at), cast(existing.event_date as timestamp))
        ) as observed_ms,
        min(existing.partition_observed_ms) as partition_observed_ms,
        {{ measures(daily_measures(), "sum(value) filter (where measure = 'records') > 0") }}
    from existing
    left join daily
        on existing.cluster_id = daily.cluster_id and existing.event_date = daily.event_date
    group by existing.cluster_id, existing.event_date
),

final as (
    select
        {{ row_key(['summed.cluster_id', 'summed.event_date']) }} as cluster_daily_key,
        {{ cluster_key(of='incarnations') }} as cluster_key,
        summed.cluster_id,
        incarnations.cluster_incarnation,
        summed.event_date,
        if(summed.records > 0, 'known', 'unknown') as evidence_state,
        if(summed.records > 0, releases.kafka_version, null) as kafka_version,
        if(summed.records > 0, releases.kafka_versions, null) as kafka_versions,
        summed.records,
        summed.nodes_with_records,
        if(summed.records > 0, summed.partitions, null) as partitions,
        if(summed.records > 0, summed.observed_ms, null) as observed_ms,
        if(summed.records > 0, summed.partition_observed_ms, null) as partition_observed_ms,
        {%- for measure in daily_measures() %}
            summed.{{ measure.name }},
        {%- endfor %}
        {{ availability('summed.leaderless_ms', 'summed.partition_observed_ms') }}
            as availability_ratio,
        -- The same weekday of the four weeks before, where there is evidence of them.
        avg(summed.elections_leader_lost) over (
            partition by summed.cluster_id, weekday(summed.event_date)
            order by summed.event_date
            rows between 4 preceding and 1 preceding
        ) as elections_leader_lost_baseline,
        avg(summed.incidents) over (
            partition by summed.cluster_id, weekday(summed.event_date)
            order by summed.event_date
            rows between 4 preceding and 1 preceding
        ) as incidents_baseline
    from summed
    left join releases
        on summed.cluster_id = releases.cluster_id and summed.event_date = releases.event_date
    left join incarnations on {{ at_end_of_day('summed') }}
)

select * from final
