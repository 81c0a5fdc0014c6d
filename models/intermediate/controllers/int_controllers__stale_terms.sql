{{ config(materialized='table', file_format='parquet') }}

with terms as (
    select * from {{ ref('int_controllers__terms') }}
),

resignations as (
    select *
    from {{ ref('stg_logs__quorum_events') }}
    where is_resignation
),

-- What the node had begun it still prints just after its resignation.
resigned as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.controller_epoch,
        terms.controller_id as node_id,
        terms.superseded_at as stale_from,
        min(resignations.logged_at) + interval 1 second as stale_until
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

-- A node that logs no resignation was killed, or its log is cut.
final as (
    select * from resigned
    where stale_until > stale_from + interval 1 second
)

select * from final
