{{ config(materialized='table', file_format='parquet') }}

with terms as (
    select * from {{ ref('stg_logs__terms_started') }}
),

controller_events as (
    select * from {{ ref('stg_logs__controller_events') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

partition_claims as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Every line that names a controller together with its epoch; those of the elected node itself come first.
statements as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        epoch_kind,
        epoch_start_offset,
        1 as evidence_rank
    from terms
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        2 as evidence_rank
    from controller_events
    where
        {{ has_role('controller_readiness') }}
        and controller_epoch is not null
        and controller_id is not null
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        quorum_epoch,
        quorum_leader_id,
        'metadata' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        3 as evidence_rank
    from quorum_events
    where
        quorum_epoch is not null
        and quorum_leader_id is not null
        and {{ has_role(['quorum_state', 'quorum_leader']) }}
        and coalesce(quorum_state, '') not like 'Leader%'
    union all
    -- A request names its sender, but a copy of the state in it may be older than the sender's own term.
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        4 as evidence_rank
    from partition_claims
    where
        {{ has_role('partition_leader_change') }}
        and controller_epoch > 0
        and controller_id is not null
),

-- One row per record that names a controller together with its epoch.
claims as (
    {{ placed('statements') }}
),

-- One row per epoch: the controller that the most trusted line names, from the first line of that trust on.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        min_by(controller_id, struct(evidence_rank, logged_at, byte_offset)) as controller_id,
        epoch_kind,
        min(logged_at) as elected_at,
        min(evidence_rank) as evidence_rank,
        max(epoch_start_offset) as epoch_start_offset,
        bool_or(evidence_rank <= 2 and epoch_start_offset is null) as is_active,
        count(distinct case when evidence_rank <= 2 then controller_id end) as controllers_named,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from claims
    group by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
),

-- Where a later leader of the quorum begins at the same offset, the metadata log has nothing of this one.
compared as (
    select
        *,
        coalesce(min(epoch_start_offset) over (later) <= epoch_start_offset, false)
            as is_written_over
    from grouped
    window later as (
        partition by cluster_id, cluster_incarnation, epoch_kind
        order by controller_epoch
        rows between 1 following and unbounded following
    )
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
        evidence_rank,
        controllers_named,
        is_written_over,
        evidence,
        evidence_count
    from compared
    -- Unless its node says that it became the controller, it only won a vote.
    where is_active or not is_written_over
)

select * from final
