{{ config(materialized='table', file_format='parquet') }}

with events as (
    select * from {{ ref('int_incidents__events') }}
),

rules as (
    select * from {{ ref('causes') }}
),

ranks as (
    select
        event_kind,
        rank
    from {{ ref('incident_kinds') }}
),

ruled as (
    select
        rules.*,
        cause_ranks.rank < effect_ranks.rank as is_downwards
    from rules
    inner join ranks as cause_ranks on rules.cause_kind = cause_ranks.event_kind
    inner join ranks as effect_ranks on rules.effect_kind = effect_ranks.event_kind
),

matched as (
    select
        effects.event_key,
        causes.event_key as cause_event_key,
        row_number() over (
            partition by effects.event_key
            order by
                ruled.matched_by <> 'key' asc,
                ruled.matched_by not in ('partition', 'partition and other') asc,
                -- The nearest; of those within the same two seconds the one that the rules prefer.
                abs(unix_millis(effects.started_at) - unix_millis(causes.started_at)) div 2000 asc,
                ruled.priority asc,
                causes.started_at desc,
                causes.event_key asc
        ) as choice_rank
    from ruled
    inner join events as effects on ruled.effect_kind = effects.event_kind
    inner join events as causes
        on
            ruled.cause_kind = causes.event_kind
            and effects.cluster_id = causes.cluster_id
            and effects.cluster_incarnation = causes.cluster_incarnation
            -- Upwards, only events that had begun before: an event cannot cause itself.
            and (ruled.is_downwards or effects.started_at > causes.started_at)
            and case ruled.matched_by
                when 'key' then array_contains(effects.caused_by_keys, causes.fact_key)
                when 'node' then arrays_overlap(effects.node_ids, causes.node_ids)
                when 'other' then array_contains(causes.node_ids, effects.other_node_id)
                when 'partition' then arrays_overlap(effects.partitions, causes.partitions)
                when 'partition and other'
                    then
                        arrays_overlap(effects.partitions, causes.partitions)
                        and array_contains(causes.node_ids, effects.other_node_id)
                when 'process' then arrays_overlap(effects.processes, causes.processes)
                else true
            end
            and (
                ruled.matched_by = 'key'
                or (
                    unix_millis(effects.started_at)
                    >= unix_millis(causes.started_at) - ruled.earliest_ms
                    and (
                        (ruled.is_while_open and causes.ended_at is null)
                        or unix_millis(effects.started_at) <= ruled.longest_delay_ms + unix_millis(
                            case
                                when ruled.is_while_open then causes.ended_at else causes.started_at
                            end
                        )
                    )
                )
            )
),

final as (
    select
        event_key,
        cause_event_key
    from matched
    where choice_rank = 1
)

select * from final
