{{ config(materialized='table', meta={'at': 'stale_from'}) }}

with terms as (
    select *
    from {{ ref('int_controllers__terms_begun') }}
    where epoch_kind = 'metadata' and given_up_at is not null
),

-- A node that logs no resignation was killed, or its log is cut. What it printed last before it is not stored either, and what it
-- had begun it still prints just after it. Of a term that was written over nothing is stored.
final as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        controller_id as node_id,
        case
            when is_written_over then elected_at
            else least(superseded_at, given_up_at - interval 100 milliseconds)
        end as stale_from,
        given_up_at + interval 1 second as stale_until
    from terms
    where is_written_over or superseded_by_id <> controller_id
)

select * from final
