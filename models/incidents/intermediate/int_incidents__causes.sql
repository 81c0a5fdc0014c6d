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

-- An effect meets a cause on a day, or names it by its key: else each would be compared with all others of the cluster's history.
effects as (
    select
        *,
        explode(array_append(caused_by_keys, cast(cast(started_at as date) as string))) as met_by
    from events
),

dated as (
    select
        *,
        max(started_at) over (partition by cluster_id, cluster_incarnation) as last_started_at
    from events
),

-- One row per event, rule by which it may be a cause, and day on which the rule lets effects begin.
causes as (
    select
        dated.*,
        ruled.* except (why),
        explode(
            if(
                ruled.matched_by = 'key',
                array(dated.fact_key),
                cast(
                    sequence(
                        cast(
                            timestamp_millis(unix_millis(dated.started_at) - ruled.earliest_ms) as date
                        ),
                        cast(
                            timestamp_millis(
                                unix_millis(
                                    if(
                                        ruled.is_while_open,
                                        coalesce(dated.ended_at, dated.last_started_at),
                                        dated.started_at
                                    )
                                )
                                + ruled.longest_delay_ms
                            ) as date
                        )
                    ) as array<string>
                )
            )
        ) as met_by
    from dated
    inner join ruled on dated.event_kind = ruled.cause_kind
),

matched as (
    select
        effects.event_key,
        causes.event_key as cause_event_key,
        row_number() over (
            partition by effects.event_key
            order by
                causes.matched_by <> 'key' asc,
                causes.matched_by not in ('partition', 'partition and other') asc,
                -- The nearest; of those within the same two seconds the one that the rules prefer.
                abs(unix_millis(effects.started_at) - unix_millis(causes.started_at)) div 2000 asc,
                causes.priority asc,
                causes.started_at desc,
                causes.event_key asc
        ) as choice_rank
    from effects
    inner join causes
        on
            effects.event_kind = causes.effect_kind
            and effects.met_by = causes.met_by
            and effects.cluster_id = causes.cluster_id
            and effects.cluster_incarnation = causes.cluster_incarnation
            -- Upwards, only events that had begun before: an event cannot cause itself.
            and (causes.is_downwards or effects.started_at > causes.started_at)
            and case causes.matched_by
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
                causes.matched_by = 'key'
                or (
                    unix_millis(effects.started_at)
                    >= unix_millis(causes.started_at) - causes.earliest_ms
                    and (
                        (causes.is_while_open and causes.ended_at is null)
                        or unix_millis(effects.started_at) <= causes.longest_delay_ms + unix_millis(
                            case
                                when causes.is_while_open then causes.ended_at else causes.started_at
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
