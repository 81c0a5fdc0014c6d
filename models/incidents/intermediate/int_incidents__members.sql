{{ config(materialized='table') }}

with events as (
    select * from {{ ref('int_incidents__events') }}
),

roots as (
    select * from {{ ref('int_incidents__roots') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

shown as (
    select
        cluster_id,
        explode(evidence) as record
    from events
),

-- Processes without a number have names: that of their run, or, if no run of theirs is known, the file of a record that shows one.
names as (
    select
        cluster_id,
        node_id,
        node_name as run_name,
        cast(null as string) as file_name
    from {{ ref('dim_node_runs') }}
    where node_id < -1
    union all
    select
        cluster_id,
        record.node_id,
        cast(null as string) as run_name,
        {{ node_name('record.node_id', 'record.source_path') }} as file_name
    from shown
    where record.node_id < -1
),

unnumbered as (
    select
        cluster_id,
        node_id,
        coalesce(max(run_name), max(file_name)) as node_name
    from names
    group by cluster_id, node_id
),

named as (
    select
        cluster_id,
        map_from_entries(collect_list(struct(node_id, node_name))) as node_names
    from unnumbered
    group by cluster_id
),

summed_trees as (
    select
        roots.root_event_key,
        max(kinds.is_harm) as is_harm,
        max(coalesce(events.ended_at, events.started_at)) filter (
            where kinds.is_harm or kinds.is_planned
        ) as last_at
    from roots
    inner join events on roots.event_key = events.event_key
    inner join kinds on events.event_kind = kinds.event_kind
    group by roots.root_event_key
),

-- Planned stops are one maintenance if one begins before the harm of the one before is over, or soon after: a rolling
-- restart. Sessions that expire together, or replicas that fall out of sync, have one cause, even if it is unknown.
kept as (
    select
        summed_trees.root_event_key,
        events.cluster_id,
        events.cluster_incarnation,
        events.started_at,
        case
            when kinds.is_planned then 'planned'
            when kinds.event_kind = 'session_expired' then kinds.event_kind
            when kinds.event_kind in ('isr_shrunk', 'isr_lost') then 'isr_shrunk'
            else summed_trees.root_event_key
        end as family,
        case when kinds.is_planned then summed_trees.last_at else events.started_at end as last_at,
        case when kinds.is_planned then {{ var('maintenance_gap_ms') }} else 10000 end as gap_ms
    from summed_trees
    inner join events on summed_trees.root_event_key = events.event_key
    inner join kinds on events.event_kind = kinds.event_kind
    where summed_trees.is_harm or kinds.is_planned
),

spaced as (
    select
        *,
        max(last_at) over (
            partition by cluster_id, cluster_incarnation, family
            order by started_at, root_event_key
            rows between unbounded preceding and 1 preceding
        ) as last_ended_at
    from kept
),

numbered as (
    select
        *,
        sum(
            case
                when unix_millis(started_at) - unix_millis(last_ended_at) <= gap_ms then 0
                else 1
            end
        ) over (
            partition by cluster_id, cluster_incarnation, family
            order by started_at, root_event_key
            rows between unbounded preceding and current row
        ) as family_number
    from spaced
),

trees as (
    select
        root_event_key,
        first_value(root_event_key) over (
            partition by cluster_id, cluster_incarnation, family, family_number
            order by started_at, root_event_key
            rows between unbounded preceding and unbounded following
        ) as incident_root_key
    from numbered
),

members as (
    select
        {{ row_key(["'incident'", 'trees.incident_root_key']) }} as incident_key,
        events.*,
        kinds.severity,
        kinds.is_harm,
        kinds.is_planned,
        kinds.root_cause_kind,
        case
            when events.event_key in (trees.incident_root_key, trees.root_event_key) then 'cause'
            else kinds.role
        end as role,
        events.event_key = trees.incident_root_key as is_root,
        kinds.sentence as kind_sentence,
        kinds.recovery_sentence,
        kinds.as_cause as kind_as_cause,
        array_join(
            transform(
                events.node_ids,
                node -> coalesce(named.node_names[node], cast(node as string))
            ),
            ', '
        ) as nodes_text,
        array_join(slice(events.partitions, 1, 5), ', ')
        || case
            when size(events.partitions) > 5
                then concat(' and ', size(events.partitions) - 5, ' more')
            else ''
        end as partitions_text
    from roots
    inner join trees on roots.root_event_key = trees.root_event_key
    inner join events on roots.event_key = events.event_key
    inner join kinds on events.event_kind = kinds.event_kind
    left join named on events.cluster_id = named.cluster_id
),

final as (
    select
        * except (kind_sentence, recovery_sentence, kind_as_cause, nodes_text, partitions_text),
        {{ fill_sentence('kind_sentence') }} as sentence,
        {{ fill_sentence('recovery_sentence') }} as recovery_sentence,
        {{ fill_sentence('kind_as_cause') }} as as_cause
    from members
)

select * from final
