-- Each harmful event is in exactly one incident.
with events as (
    select * from {{ ref('int_incidents__events') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

mart_rows as (
    select * from {{ ref('fct_incident_events') }}
),

expected as (
    select
        events.event_kind,
        count(*) as harms,
        sum(events.fact_rows) as fact_rows
    from events
    inner join kinds on events.event_kind = kinds.event_kind
    where kinds.is_harm
    group by events.event_kind
),

found as (
    select
        event_kind,
        count(*) as harms,
        sum(fact_rows) as fact_rows
    from mart_rows
    where role <> 'recovery'
    group by event_kind
),

final as (
    select
        expected.event_kind,
        expected.harms as expected_harms,
        found.harms as found_harms
    from expected
    left join found on expected.event_kind = found.event_kind
    where
        expected.harms <> coalesce(found.harms, 0)
        or expected.fact_rows <> coalesce(found.fact_rows, 0)
)

select * from final
