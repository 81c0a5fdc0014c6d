{{ config(materialized='table', file_format='parquet') }}

with events as (
    select * from {{ ref('int_incidents__events') }}
),

causes as (
    select * from {{ ref('int_incidents__causes') }}
),

first_step as (
    select
        events.event_key,
        coalesce(causes.cause_event_key, events.event_key) as above_key
    from events
    left join causes on events.event_key = causes.event_key
),

-- Each step doubles the way that has been gone towards the root: four make sixteen, which no chain of kinds is long.
second_step as (
    select
        steps.event_key,
        above.above_key
    from first_step as steps
    inner join first_step as above on steps.above_key = above.event_key
),

third_step as (
    select
        steps.event_key,
        above.above_key
    from second_step as steps
    inner join second_step as above on steps.above_key = above.event_key
),

fourth_step as (
    select
        steps.event_key,
        above.above_key
    from third_step as steps
    inner join third_step as above on steps.above_key = above.event_key
),

fifth_step as (
    select
        steps.event_key,
        above.above_key
    from fourth_step as steps
    inner join fourth_step as above on steps.above_key = above.event_key
),

final as (
    select
        event_key,
        above_key as root_event_key
    from fifth_step
)

select * from final
