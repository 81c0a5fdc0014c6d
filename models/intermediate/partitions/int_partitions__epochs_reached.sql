{{ config(materialized='table') }}

with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

logged as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A broker that is told that a partition has no leader logs only that it cannot follow, without the epoch.
refusals as (
    select * from logged
    where {{ has_role('follower_refusal') }} and leader_id = -1 and node_id is not null
),

placed as (
    {{ placed('refusals') }}
),

refused as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        epochs.leader_id,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset
    from placed
    inner join epochs
        on
            placed.cluster_id = epochs.cluster_id
            and placed.cluster_incarnation = epochs.cluster_incarnation
            and placed.topic_name = epochs.topic_name
            and placed.partition_id = epochs.partition_id
            and epochs.leader_id = -1
            -- The receiver's clock may be behind the controller's.
            and placed.logged_at >= epochs.elected_at - interval 1 second
            and (epochs.held_until is null or placed.logged_at < epochs.held_until)
),

-- A broker knows an epoch when it receives or begins it; a controller, within its term, when it orders or sends it.
words as (
    select
        *,
        case
            when {{ has_role('controller_statement') }} then controller_epoch
        end as term_epoch
    from claims
    where
        node_id is not null
        and reported_by in ('controller_log', 'state_change_log', 'broker_log', 'metadata_cache')
        and not {{ has_role('partition_creation') }}
        and (reported_by <> 'controller_log' or controller_epoch is not null)
),

known as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        leader_epoch,
        leader_id,
        logged_at,
        source_path,
        byte_offset,
        reported_by = 'metadata_cache' as is_cached,
        {{ has_role('leadership_skip') }} as is_skip
    from words
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        cast(null as int) as term_epoch,
        leader_epoch,
        leader_id,
        logged_at,
        source_path,
        byte_offset,
        false as is_cached,
        false as is_skip
    from refused
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        leader_epoch,
        min(logged_at) as reached_at,
        min_by(leader_id, struct(logged_at, source_path, byte_offset))
        filter (where leader_id is not null) as leader_id,
        min(struct(logged_at, node_id, source_path, byte_offset)) as line,
        max(is_cached) as is_cached,
        -- It would not skip an epoch that it did not have.
        min_by(is_skip, struct(logged_at, source_path, byte_offset)) as is_reached_before
    from known
    group by all
)

select * from final
