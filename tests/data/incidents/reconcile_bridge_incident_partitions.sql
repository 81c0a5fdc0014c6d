-- The partitions of an incident are as many as it says. Those of groups and of log directories that failed are names in its events, which may have
-- no partition.
with bridge as (
    select * from {{ ref('bridge_incident_partitions') }}
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
        count(distinct topic_name, partition_id) as partitions_found
    from bridge
    group by incident_key
),

named as (
    select incident_key
    from facts
    where fact_name in ('fct_group_rebalances', 'fct_log_dir_failures')
    group by incident_key
),

final as (
    select
        incidents.incident_key,
        incidents.partitions_affected as expected_partitions,
        counted.partitions_found
    from incidents
    left join counted on incidents.incident_key = counted.incident_key
    left anti join named on incidents.incident_key = named.incident_key
    where incidents.partitions_affected <> coalesce(counted.partitions_found, 0)
)

select * from final
