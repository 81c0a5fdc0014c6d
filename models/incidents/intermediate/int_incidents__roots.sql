{{
    config(
        materialized='table',
        pre_hook=recursion(true),
        post_hook=recursion(false)
    )
}}

with recursive events as (
    select * from {{ ref('int_incidents__events') }}
),

causes as (
    select * from {{ ref('int_incidents__causes') }}
),

beginnings as (
    select events.event_key
    from events
    left anti join causes on events.event_key = causes.event_key
),

-- From the first causes down to their last effects, over any number of steps.
reached as (
    select
        event_key,
        event_key as root_event_key
    from beginnings
    union all
    select
        causes.event_key,
        reached.root_event_key
    from reached
    inner join causes on reached.event_key = causes.cause_event_key
),

-- Events that caused each other in a circle would have no root; the rules allow none
-- (tests/python/test_causes.py).
final as (
    select
        events.event_key,
        coalesce(reached.root_event_key, events.event_key) as root_event_key
    from events
    left join reached on events.event_key = reached.event_key
)

select * from final
