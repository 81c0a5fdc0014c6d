{{ config(materialized='table', file_format='parquet', meta={'at': 'stale_from'}) }}

with terms as (
    select * from {{ ref('int_controllers__terms') }}
),

resignations as (
    select *
    from {{ ref('stg_logs__quorum_events') }}
    where is_resignation
),

resigned as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.controller_epoch,
        terms.controller_id as node_id,
        terms.superseded_at,
        min(resignations.logged_at) as resigned_at
    from terms
    inner join resignations
        on
            terms.cluster_id = resignations.cluster_id
            and terms.controller_id = resignations.node_id
            and terms.elected_at < resignations.logged_at
    where
        terms.epoch_kind = 'metadata'
        and terms.superseded_by_id <> terms.controller_id
    group by
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.controller_epoch,
        terms.controller_id,
        terms.superseded_at
),

-- A node that logs no resignation was killed, or its log is cut. What it printed last before it is not stored either, and what it
-- had begun it still prints just after it.
final as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        node_id,
        least(superseded_at, resigned_at - interval 100 milliseconds) as stale_from,
        resigned_at + interval 1 second as stale_until
    from resigned
)

select * from final
