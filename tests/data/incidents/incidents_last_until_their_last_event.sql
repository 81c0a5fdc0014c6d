-- No event of an incident, and no recovery, is after its end.
with incidents as (
    select * from {{ ref('fct_incidents') }}
),

events as (
    select * from {{ ref('fct_incident_events') }}
),

final as (
    select
        events.incident_event_key,
        events.sentence,
        events.happened_at,
        incidents.ended_at
    from events
    inner join incidents on events.incident_key = incidents.incident_key
    where incidents.ended_at < events.happened_at
)

select * from final
