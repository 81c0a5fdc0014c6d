{{ config(materialized='table', file_format='parquet') }}

with claims as (
    select * from {{ ref('int_controllers__claims') }}
),

-- One row per epoch: the controller that the most trusted line names, from the first line of that trust on.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        min_by(controller_id, struct(trust, logged_at, byte_offset)) as controller_id,
        epoch_kind,
        min(logged_at) as elected_at,
        min(trust) as trust,
        count(distinct case when trust <= 2 then controller_id end) as claimants,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from claims
    group by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        controller_id,
        epoch_kind,
        elected_at,
        lead(elected_at) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as superseded_at,
        lead(controller_id) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as superseded_by_id,
        trust,
        claimants,
        evidence,
        evidence_count
    from grouped
)

select * from final
