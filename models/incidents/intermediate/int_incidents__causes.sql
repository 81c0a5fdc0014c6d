{{ config(materialized='table') }}

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

timed as (
    select
        *,
        unix_millis(started_at) as started_ms,
        unix_millis(ended_at) as ended_ms,
        max(unix_millis(started_at)) over (partition by cluster_id, cluster_incarnation)
            as last_started_ms
    from events
),

-- Effects and causes are joined by day, or by the key that the effect names: all pairs of a
-- cluster's history would be too many.
effects as (
    select
        *,
        explode(array_append(caused_by_keys, cast(cast(started_at as date) as string))) as met_by
    from timed
),

-- One row per event, rule by which it may be a cause, and day on which the rule lets effects begin.
causes as (
    select
        timed.*,
        ruled.* except (why),
        explode(
            if(
                ruled.matched_by = 'key',
                array(timed.fact_key),
                cast(
                    sequence(
                        cast(timestamp_millis(timed.started_ms - ruled.earliest_ms) as date),
                        cast(
                            timestamp_millis(
                                ruled.longest_delay_ms + if(
                                    ruled.is_while_open,
                                    coalesce(timed.ended_ms, timed.last_started_ms),
                                    timed.started_ms
                                )
                            ) as date
                        )
                    ) as array<string>
                )
            )
        ) as met_by
    from timed
    inner join ruled on timed.event_kind = ruled.cause_kind
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
                -- What stopped the node itself comes before what stopped all.
                causes.matched_by = 'cluster' asc,
                -- The nearest in time; within the same two seconds the one with the lowest
                -- priority.
                abs(effects.started_ms - causes.started_ms) div 2000 asc,
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
            -- A cause that does not rank below its effect must begin earlier: an event cannot cause
            -- itself.
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
                    effects.started_ms >= causes.started_ms - causes.earliest_ms
                    and (
                        (causes.is_while_open and causes.ended_ms is null)
                        or effects.started_ms <= causes.longest_delay_ms
                        + if(causes.is_while_open, causes.ended_ms, causes.started_ms)
                    )
                    -- What the nodes got back after the cause had begun is lost for another reason, unless they are still
                    -- coming back.
                    and (
                        coalesce(effects.held_since_at <= causes.started_at, true)
                        or causes.ended_ms is null
                        or effects.started_ms <= causes.ended_ms + 5000
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
