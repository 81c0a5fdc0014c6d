{{ config(materialized='table') }}

with process_facts as (
    select * from {{ ref('int_incidents__process_facts') }}
),

controller_facts as (
    select * from {{ ref('int_incidents__controller_facts') }}
),

partition_facts as (
    select * from {{ ref('int_incidents__partition_facts') }}
),

replica_facts as (
    select * from {{ ref('int_incidents__replica_facts') }}
),

storage_facts as (
    select * from {{ ref('int_incidents__storage_facts') }}
),

request_facts as (
    select * from {{ ref('int_incidents__request_facts') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

-- One row per fact that may be part of an incident, from the models of each family.
facts as (
    select * from process_facts
    union all
    select * from controller_facts
    union all
    select * from partition_facts
    union all
    select * from replica_facts
    union all
    select * from storage_facts
    union all
    select * from request_facts
),

spaced as (
    select
        facts.*,
        kinds.burst_ms,
        lag(facts.started_at) over (
            partition by facts.cluster_id, facts.cluster_incarnation, facts.event_kind, facts.burst
            order by facts.started_at, facts.fact_key
        ) as previous_at
    from facts
    inner join kinds on facts.event_kind = kinds.event_kind
),

-- The same event on many partitions counts as one, if each follows the one before within the kind's burst_ms.
numbered as (
    select
        *,
        sum(
            case
                when
                    previous_at is not null
                    and unix_millis(started_at) - unix_millis(previous_at) <= burst_ms
                    then 0
                else 1
            end
        ) over (
            partition by cluster_id, cluster_incarnation, event_kind, burst
            order by started_at, fact_key
            rows between unbounded preceding and current row
        ) as burst_number
    from spaced
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'event_kind', 'burst', 'min(started_at)', 'min(fact_key)'
            ])
        }} as event_key,
        cluster_id,
        cluster_incarnation,
        event_kind,
        min_by(fact_name, struct(started_at, fact_key)) as fact_name,
        min_by(fact_key, struct(started_at, fact_key)) as fact_key,
        min(started_at) as started_at,
        case when count(ended_at) = count(*) then max(ended_at) end as ended_at,
        sort_array(array_distinct(flatten(collect_list(node_ids)))) as node_ids,
        min(other_node_id) as other_node_id,
        min(owner) as owner,
        sort_array(
            array_union(
                collect_set(concat(topic_name, '-', partition_id)),
                flatten(collect_list(partitions))
            )
        ) as partitions,
        sort_array(collect_set(group_id)) as group_ids,
        sort_array(array_distinct(flatten(collect_list(processes)))) as processes,
        sort_array(collect_set(caused_by_key)) as caused_by_keys,
        max(held_since_at) as held_since_at,
        min_by(detail, struct(started_at, fact_key)) as detail,
        max_by(returned_as, struct(started_at, fact_key)) as returned_as,
        sum(amount) as amount_total,
        max(amount) as amount_max,
        sum(duration_ms) as duration_total_ms,
        max(duration_ms) as duration_max_ms,
        sort_array(
            collect_list(started_at)
            filter (where event_kind = 'leaderless' and ended_at is null)
        ) as leaderless_since,
        count(*) as fact_rows,
        min_by(evidence, struct(started_at, fact_key)) as evidence,
        min_by(evidence_count, struct(started_at, fact_key)) as evidence_count,
        sort_array(array_distinct(flatten(collect_list(warnings)))) as warnings
    from numbered
    group by cluster_id, cluster_incarnation, event_kind, burst, burst_number
)

select * from final
