-- Each root cause of an incident is one row, and each harmful event that did not begin an incident belongs to one.
with events as (
    select * from {{ ref('int_incidents__events') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

members as (
    select * from {{ ref('int_incidents__members') }}
),

mart_rows as (
    select * from {{ ref('fct_incidents') }}
),

harmful as (
    select
        events.cluster_id,
        count(*) as events
    from events
    inner join kinds on events.event_kind = kinds.event_kind
    where kinds.is_harm
    group by events.cluster_id
),

belonging as (
    select
        cluster_id,
        count_if(is_harm) as events,
        count_if(is_root) as incidents
    from members
    group by cluster_id
),

expected as (
    select
        coalesce(harmful.cluster_id, belonging.cluster_id) as cluster_id,
        harmful.events,
        belonging.events as events_belonging,
        belonging.incidents
    from harmful
    full outer join belonging on harmful.cluster_id = belonging.cluster_id
),

found as (
    select
        cluster_id,
        count(*) as incidents
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.events as expected_events,
        expected.events_belonging as found_events,
        expected.incidents as expected_incidents,
        found.incidents as found_incidents
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.events, 0) <> coalesce(expected.events_belonging, 0)
        or coalesce(expected.incidents, 0) <> coalesce(found.incidents, 0)
)

select * from final
