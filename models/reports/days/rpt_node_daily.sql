with nodes as (
    select
        cluster_id,
        node_id,
        min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at
    from {{ ref('dim_node_runs') }}
    group by cluster_id, node_id
),

runs as (
    select * from {{ ref('dim_node_runs') }}
),

daily as (
    select * from {{ ref('int_days__measures') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

days as (
    select
        *,
        explode(
            sequence(cast(first_seen_at as date), cast(last_seen_at as date), interval 1 day)
        ) as event_date
    from nodes
    where first_seen_at is not null
),

released as (
    select
        days.*,
        max_by(runs.kafka_version, runs.run_number) as kafka_version,
        count(runs.started_at)
        filter (where cast(runs.started_at as date) = days.event_date) as starts,
        count(runs.stopped_at) filter (
            where cast(runs.stopped_at as date) = days.event_date
            and runs.end_kind in ('killed', 'fatal')
        ) as unclean_shutdowns
    from days
    left join runs
        on
            days.cluster_id = runs.cluster_id
            and days.node_id = runs.node_id
            and cast(runs.first_seen_at as date) <= days.event_date
    group by all
),

summed as (
    select
        released.cluster_id,
        released.node_id,
        released.event_date,
        released.kafka_version,
        released.starts,
        released.unclean_shutdowns,
        coalesce(sum(daily.value) filter (where daily.measure = 'records'), 0) as records,
        {{ measures(node_measures(), "sum(value) filter (where measure = 'records') > 0") }}
    from released
    left join daily
        on
            released.cluster_id = daily.cluster_id
            and released.node_id = daily.node_id
            and released.event_date = daily.event_date
    group by
        released.cluster_id,
        released.node_id,
        released.event_date,
        released.kafka_version,
        released.starts,
        released.unclean_shutdowns
),

final as (
    select
        {{ row_key(['summed.cluster_id', 'node_id', 'event_date']) }} as node_daily_key,
        {{ cluster_key(of='incarnations') }} as cluster_key,
        {{ node_key(of='summed') }} as node_key,
        summed.cluster_id,
        incarnations.cluster_incarnation,
        node_id,
        event_date,
        if(records > 0, 'known', 'unknown') as evidence_state,
        kafka_version,
        records,
        if(records > 0, starts, null) as starts,
        if(records > 0, unclean_shutdowns, null) as unclean_shutdowns,
    {%- for measure in node_measures() %}
        {{ measure.column or measure.name }}{{ ',' if not loop.last }}
    {%- endfor %}
    from summed
    left join incarnations on {{ at_end_of_day('summed') }}
)

select * from final
