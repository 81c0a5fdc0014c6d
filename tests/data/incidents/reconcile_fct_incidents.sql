-- Each root cause of an incident is one row, and each harmful event that did not begin an incident belongs to one.
with trees as (
    select * from {{ ref('int_incidents__trees') }}
),

events as (
    select * from {{ ref('int_incidents__events') }}
),

mart_rows as (
    select * from {{ ref('fct_incidents') }}
),

expected as (
    select
        events.cluster_id,
        count(distinct trees.incident_root_key) as incidents
    from trees
    inner join events on trees.incident_root_key = events.event_key
    group by events.cluster_id
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
        expected.incidents as expected_incidents,
        found.incidents as found_incidents
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where coalesce(expected.incidents, 0) <> coalesce(found.incidents, 0)
)

select * from final
