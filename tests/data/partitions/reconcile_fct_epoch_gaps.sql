-- Each gap that was found is one row of its kind with all of its evidence.
with leader_gaps as (
    select * from {{ ref('int_epochs__leader_gaps') }}
),

controller_gaps as (
    select * from {{ ref('int_epochs__controller_gaps') }}
),

stale_nodes as (
    select * from {{ ref('int_epochs__stale_nodes') }}
),

stale_caches as (
    select * from {{ ref('int_epochs__stale_caches') }}
),

duplicate_owners as (
    select * from {{ ref('int_epochs__duplicate_owners') }}
),

mart_rows as (
    select * from {{ ref('fct_epoch_gaps') }}
),

source_rows as (
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        evidence_count
    from leader_gaps
    union all
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        evidence_count
    from controller_gaps
    union all
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        evidence_count
    from stale_nodes
    union all
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        evidence_count
    from stale_caches
    union all
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        evidence_count
    from duplicate_owners
),

expected as (
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        count(*) as gaps,
        sum(evidence_count) as evidence_count
    from source_rows
    group by cluster_id, gap_kind, epoch_kind
),

found as (
    select
        cluster_id,
        gap_kind,
        epoch_kind,
        count(*) as gaps,
        sum(evidence_count) as evidence_count
    from mart_rows
    group by cluster_id, gap_kind, epoch_kind
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        coalesce(expected.gap_kind, found.gap_kind) as gap_kind,
        coalesce(expected.epoch_kind, found.epoch_kind) as epoch_kind,
        expected.gaps as expected_gaps,
        found.gaps as found_gaps,
        expected.evidence_count as expected_evidence_count,
        found.evidence_count as found_evidence_count
    from expected
    full outer join found
        on
            expected.cluster_id = found.cluster_id
            and expected.gap_kind = found.gap_kind
            and expected.epoch_kind = found.epoch_kind
    where
        coalesce(expected.gaps, 0) <> coalesce(found.gaps, 0)
        or coalesce(expected.evidence_count, 0) <> coalesce(found.evidence_count, 0)
)

select * from final
