{{ config(materialized='table') }}

with process_facts as (
    select * from {{ ref('int_incidents__process_facts') }}
),

replica_facts as (
    select * from {{ ref('int_incidents__replica_facts') }}
),

tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

elections as (
    select * from {{ ref('fct_leader_elections') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

controllerless_windows as (
    select * from {{ ref('fct_controllerless_windows') }}
),

rebalances as (
    select * from {{ ref('fct_group_rebalances') }}
),

consumer_groups as (
    select * from {{ ref('dim_groups') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

followed_tenures as (
    select
        *,
        lag(controller_id) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as previous_controller_id,
        lag(end_kind) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as previous_end_kind
    from tenures
),

measured_windows as (
    select
        *,
        coalesce(duration_ms, unix_millis(last_sign_at) - unix_millis(started_at)) as known_ms
    from controllerless_windows
),

-- The last leader before each election, and since when it had led; if epochs are missing, the last one that is known.
followed_elections as (
    select
        *,
        last_value(
            case when leader_id >= 0 then struct(leader_id, elected_at) end, true
        ) over (
            partition by cluster_id, topic_key, partition_id
            order by leader_epoch
            rows between unbounded preceding and 1 preceding
        ) as last_led
    from elections
),

-- The controller that found no leader for the partition. Topics that are being deleted have no window.
left_without as (
    select
        windows.*,
        followed.controller_id,
        coalesce(nullif(windows.last_leader_id, -1), followed.last_led.leader_id) as left_by_id,
        followed.last_led
    from leaderless_windows as windows
    left join followed_elections as followed
        on
            windows.cluster_id = followed.cluster_id
            and windows.topic_key = followed.topic_key
            and windows.partition_id = followed.partition_id
            and windows.started_at = followed.elected_at
            and followed.is_leaderless
),

-- A group depends on the partition of the offsets topic that its coordinator leads.
failed_rebalances as (
    select
        rebalances.*,
        consumer_groups.offsets_partition_id
    from rebalances
    left join consumer_groups on rebalances.group_key = consumer_groups.group_key
    where rebalances.is_failed or rebalances.is_stuck
),

-- One row per fact that may be part of an incident, and kind of event that it is.
facts as (
    select * from process_facts
    union all
    select * from replica_facts
    {%- for row in incident_facts() %}
        union all
        select {{ incident_fact(**row) }}
        from {{ row.rows or ref(row.fact) }}
        {%- if row.where %}
            where {{ row.where }}
        {%- endif %}
    {%- endfor %}
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
        sort_array(
            collect_list(
                struct(
                    started_at as happened_at,
                    fact_key,
                    fact_name,
                    node_ids,
                    topic_key,
                    partition_key,
                    group_key,
                    amount,
                    concat(topic_name, '-', partition_id) as partition_name
                )
            )
        ) as facts,
        min_by(evidence, struct(started_at, fact_key)) as evidence,
        min_by(evidence_count, struct(started_at, fact_key)) as evidence_count,
        -- All of its facts are over, and of each a record says so.
        if(
            count(end_evidence) = count(*),
            max_by(end_evidence, struct(ended_at, fact_key)),
            null
        ) as end_evidence,
        sort_array(array_distinct(flatten(collect_list(warnings)))) as warnings
    from numbered
    group by cluster_id, cluster_incarnation, event_kind, burst, burst_number
)

select * from final
