{{ config(materialized='table', file_format='parquet') }}

with events as (
    select * from {{ ref('int_incidents__events') }}
),

roots as (
    select * from {{ ref('int_incidents__roots') }}
),

trees as (
    select * from {{ ref('int_incidents__trees') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
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
        array_join(events.node_ids, ', ') as nodes_text,
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
),

final as (
    select
        * except (kind_sentence, recovery_sentence, nodes_text, partitions_text),
        {{ fill_sentence('kind_sentence') }} as sentence,
        {{ fill_sentence('recovery_sentence') }} as recovery_sentence
    from members
)

select * from final
