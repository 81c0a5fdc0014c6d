{{ config(materialized='table') }}

with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

terms as (
    select * from {{ ref('int_controllers__terms_begun') }}
),

controller_events as (
    select * from {{ ref('stg_logs__controller_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The elected node's latest run that had started by then.
led as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch,
        max(struct(
            runs.run_number,
            runs.stopping_at,
            runs.stopped_at,
            runs.fell_silent_at,
            runs.next_started_at
        )) as run
    from terms
    inner join runs
        on
            terms.cluster_id = runs.cluster_id
            and terms.controller_id = runs.node_id
            and terms.known_since_at >= runs.first_seen_at
    group by
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch
),

resignations as (
    {{ placed('controller_events') }}
    where {{ has_role('controller_resignation', 'controller_events.event_type') }}
),

-- A controller with ZooKeeper does not print which term it gives up, and brokers print it too when they were not controller: it ends a term only
-- in the run that began the term, and of two terms of one node the later one.
resigned as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch,
        min(resignations.logged_at) as resigned_at,
        slice({{ evidence(at='resignations.logged_at', line='resignations') }}, 1, 1)
            as resigned_evidence
    from terms
    inner join resignations
        on
            terms.cluster_id = resignations.cluster_id
            and terms.cluster_incarnation = resignations.cluster_incarnation
            and terms.controller_id = resignations.node_id
            and terms.known_since_at < resignations.logged_at
            and (terms.reelected_at is null or terms.reelected_at > resignations.logged_at)
    where terms.epoch_kind = 'controller'
    group by
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch
),

described as (
    select
        terms.* except (given_up_at, given_up_evidence),
        coalesce(terms.given_up_at, resigned.resigned_at) as said_to_resign_at,
        if(terms.given_up_at is null, resigned.resigned_evidence, terms.given_up_evidence)
            as resigned_evidence,
        led.run.stopping_at,
        led.run.stopped_at,
        led.run.fell_silent_at,
        led.run.next_started_at
    from terms
    left join resigned using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
    left join led using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
),

final as (
    select
        * except (said_to_resign_at),
        if(next_started_at <= said_to_resign_at, null, said_to_resign_at) as resigned_at
    from described
)

select * from final
