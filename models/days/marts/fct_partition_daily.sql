{{ config(meta={'at': 'event_date'}) }}

with lives as (
    select * from {{ ref('int_days__partition_lives') }}
),

coverage as (
    select * from {{ ref('fct_parse_coverage_daily') }}
),

elections as (
    select * from {{ ref('fct_leader_elections') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

under_replicated_windows as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

isr_minimums as (
    select * from {{ ref('int_incidents__isr_minimums') }}
),

releases as (
    select * from {{ ref('int_days__releases') }}
),

minimum_known as (
    select partition_key
    from isr_minimums
    group by partition_key
),

stretches as (
    select
        partition_key,
        'leaderless' as kind,
        started_at,
        ended_at
    from leaderless_windows
    union all
    select
        partition_key,
        'out_of_sync' as kind,
        started_at,
        ended_at
    from under_replicated_windows
    union all
    select
        partition_key,
        'under_min_isr' as kind,
        started_at,
        ended_at
    from isr_minimums
    where is_under_min_isr
),

-- A stretch without an end lasts as long as the partition is observed.
clipped as (
    select
        partition_key,
        stretches.kind,
        stretches.ended_at is null or stretches.ended_at > lives.observed_until as is_cut,
        greatest(stretches.started_at, lives.observed_from) as started_at,
        least(stretches.ended_at, lives.observed_until) as ended_at
    from stretches
    inner join lives using (partition_key)
),

-- Several replicas are out of sync at the same time: what each stretch adds to those that began before it.
ordered as (
    select
        *,
        max(ended_at) over (
            partition by partition_key, kind
            order by started_at, ended_at
            rows between unbounded preceding and 1 preceding
        ) as reached_at
    from clipped
    where ended_at > started_at
),

by_day as (
    select
        *,
        explode(
            sequence(
                cast(started_at as date),
                cast(ended_at - interval 1 microsecond as date),
                interval 1 day
            )
        ) as event_date
    from ordered
),

within_day as (
    select
        partition_key,
        kind,
        event_date,
        unix_millis(least(ended_at, cast(date_add(event_date, 1) as timestamp))) as until_ms,
        unix_millis(greatest(started_at, cast(event_date as timestamp))) as from_ms,
        unix_millis(reached_at) as reached_ms,
        is_cut or ended_at > cast(date_add(event_date, 1) as timestamp) as is_at_end
    from by_day
),

durations as (
    select
        partition_key,
        event_date,
        sum(if(kind = 'leaderless', greatest(0, until_ms - greatest(from_ms, reached_ms)), 0))
            as leaderless_ms,
        sum(if(kind = 'out_of_sync', greatest(0, until_ms - greatest(from_ms, reached_ms)), 0))
            as under_replicated_ms,
        sum(if(kind = 'out_of_sync', until_ms - from_ms, 0)) as replicas_out_of_sync_ms,
        sum(if(kind = 'under_min_isr', greatest(0, until_ms - greatest(from_ms, reached_ms)), 0))
            as under_min_isr_ms,
        bool_or(kind = 'leaderless' and is_at_end) as is_leaderless_at_end
    from within_day
    group by partition_key, event_date
),

elected as (
    select
        partition_key,
        elected_date as event_date,
        {%- for measure in daily_measures() if measure.fact == 'fct_leader_elections' %}
            count_if({{ measure.where }}) as {{ measure.name }},
        {%- endfor %}
        max_by(struct(leader_id), leader_epoch) as led
    from elections
    where elected_date is not null
    group by partition_key, elected_date
),

joined as (
    select
        partition_key,
        event_date,
        durations.* except (partition_key, event_date),
        elected.* except (partition_key, event_date, led),
        last_value(elected.led, true) over (
            partition by partition_key
            order by event_date
            rows between unbounded preceding and current row
        ) as led
    from durations
    full outer join elected using (partition_key, event_date)
),

known_days as (
    select
        cluster_id,
        event_date
    from coverage
    group by cluster_id, event_date
    having sum(records) > 0
),

final as (
    select
        {{ row_key(['lives.partition_key', 'joined.event_date']) }} as partition_daily_key,
        {{ cluster_key(of='lives') }} as cluster_key,
        case
            when if(joined.is_leaderless_at_end, -1, joined.led.leader_id) <> -1
                then {{ row_key(['lives.cluster_id', 'joined.led.leader_id']) }}
        end as node_key,
        lives.topic_key,
        lives.partition_key,
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.topic_incarnation,
        lives.partition_id,
        joined.event_date,
        greatest(
            0,
            unix_millis(
                least(lives.observed_until, cast(date_add(joined.event_date, 1) as timestamp))
            )
            - unix_millis(greatest(lives.observed_from, cast(joined.event_date as timestamp)))
        ) as observed_ms,
        coalesce(joined.leaderless_ms, 0) as leaderless_ms,
        coalesce(joined.under_replicated_ms, 0) as under_replicated_ms,
        coalesce(joined.replicas_out_of_sync_ms, 0) as replicas_out_of_sync_ms,
        if(minimum_known.partition_key is null, null, coalesce(joined.under_min_isr_ms, 0))
            as under_min_isr_ms,
        {%- for measure in daily_measures() if measure.fact == 'fct_leader_elections' %}
            coalesce(joined.{{ measure.name }}, 0) as {{ measure.name }},
        {%- endfor %}
        if(joined.is_leaderless_at_end, -1, joined.led.leader_id) as leader_id_at_end,
        releases.kafka_version
    from joined
    inner join lives on joined.partition_key = lives.partition_key
    inner join known_days
        on lives.cluster_id = known_days.cluster_id and joined.event_date = known_days.event_date
    left join releases
        on lives.cluster_id = releases.cluster_id and joined.event_date = releases.event_date
    left join minimum_known on joined.partition_key = minimum_known.partition_key
)

select * from final
