-- The groups of an incident are as many as it says, and those that its facts are about are among them.
with bridge as (
    select * from {{ ref('bridge_incident_groups') }}
),

incidents as (
    select * from {{ ref('fct_incidents') }}
),

facts as (
    select * from {{ ref('bridge_incident_facts') }}
),

counted as (
    select
        incident_key,
        count(*) as groups_found
    from bridge
    group by incident_key
),

differing as (
    select incidents.incident_key
    from incidents
    left join counted on incidents.incident_key = counted.incident_key
    where incidents.groups_affected <> coalesce(counted.groups_found, 0)
),

lacking as (
    select facts.incident_key
    from facts
    left anti join bridge
        on facts.incident_key = bridge.incident_key and facts.group_key = bridge.group_key
    where facts.group_key is not null
),

final as (
    select incident_key from differing
    union all
    select incident_key from lacking
)

select * from final
