-- Compares the gaps with other facts and lines: epochs are skipped where those of elections or
-- tenures jump; an epoch has two owners if lines name two; each refusal of an old controller epoch
-- is evidence of a gap, and a node is behind on a partition if its cached epochs are, or if it was
-- refused.
with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

cached_epochs as (
    select * from {{ ref('fct_cached_epochs') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

rejections as (
    select * from {{ ref('stg_logs__epoch_rejections') }}
),

mart_rows as (
    select * from {{ ref('fct_epoch_gaps') }}
),

epochs as (
    select
        cluster_id,
        cluster_incarnation,
        'leader' as epoch_kind,
        topic_name,
        partition_id,
        leader_epoch as epoch,
        lag(leader_epoch) over (
            partition by topic_key, partition_id
            order by leader_epoch
        ) as previous_epoch
    from elections
    union all
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        controller_epoch as epoch,
        lag(controller_epoch) over (
            partition by cluster_id, cluster_incarnation, epoch_kind
            order by controller_epoch
        ) as previous_epoch
    from tenures
),

-- Votes that elect nobody raise the quorum's epoch: its jumps may be explained, the others are gaps.
skipped as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        topic_name,
        partition_id,
        epoch as found_epoch,
        epoch_kind <> 'metadata' as is_certain
    from epochs
    where epoch > previous_epoch + 1
),

two_owners as (
    select
        cluster_id,
        cluster_incarnation,
        'leader' as epoch_kind,
        topic_name,
        partition_id,
        leader_epoch as found_epoch,
        true as is_certain
    from claims
    where claim_kind = 'leader'
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
    having count(distinct leader_id) > 1
    union all
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        controller_epoch as found_epoch,
        true as is_certain
    from tenures
    where array_contains(warnings, 'records name different controllers')
),

behind as (
    select
        cluster_id,
        topic_name,
        partition_id,
        node_id
    from cached_epochs
    where epochs_behind > 0
    union
    select
        cluster_id,
        topic_name,
        partition_id,
        node_id
    from rejections
    where leader_epoch < current_leader_epoch
),

gap_kinds as (
    select
        'skipped' as gap_kind,
        skipped.*
    from skipped
    union all
    select
        'duplicate_owner' as gap_kind,
        two_owners.*
    from two_owners
),

gaps as (
    select * from mart_rows
    where gap_kind <> 'stale_node'
),

epochs_compared as (
    select
        coalesce(gap_kinds.cluster_id, gaps.cluster_id) as cluster_id,
        coalesce(gap_kinds.gap_kind, gaps.gap_kind) as gap_kind,
        coalesce(gap_kinds.epoch_kind, gaps.epoch_kind) as epoch_kind
    from gap_kinds
    full outer join gaps
        on
            gap_kinds.cluster_id = gaps.cluster_id
            and gap_kinds.cluster_incarnation <=> gaps.cluster_incarnation
            and gap_kinds.gap_kind = gaps.gap_kind
            and gap_kinds.epoch_kind = gaps.epoch_kind
            and gap_kinds.topic_name <=> gaps.topic_name
            and gap_kinds.partition_id <=> gaps.partition_id
            and gap_kinds.found_epoch = gaps.found_epoch
    where gap_kinds.cluster_id is null or (gap_kinds.is_certain and gaps.cluster_id is null)
),

nodes_with_gaps as (
    select
        cluster_id,
        topic_name,
        partition_id,
        node_id
    from mart_rows
    where gap_kind = 'stale_node' and epoch_kind = 'leader'
    group by cluster_id, topic_name, partition_id, node_id
),

nodes_compared as (
    select
        coalesce(behind.cluster_id, nodes_with_gaps.cluster_id) as cluster_id,
        'stale_node' as gap_kind,
        'leader' as epoch_kind
    from behind
    full outer join nodes_with_gaps
        on
            behind.cluster_id = nodes_with_gaps.cluster_id
            and behind.topic_name <=> nodes_with_gaps.topic_name
            and behind.partition_id <=> nodes_with_gaps.partition_id
            and behind.node_id <=> nodes_with_gaps.node_id
    where behind.cluster_id is null or nodes_with_gaps.cluster_id is null
),

refusals as (
    select
        cluster_id,
        1 as refusals
    from rejections
    where controller_epoch < latest_controller_epoch
    union all
    select
        cluster_id,
        -evidence_count as refusals
    from mart_rows
    where gap_kind = 'stale_node' and epoch_kind = 'controller'
),

refusals_compared as (
    select
        cluster_id,
        'stale_node' as gap_kind,
        'controller' as epoch_kind
    from refusals
    group by cluster_id
    having sum(refusals) <> 0
),

final as (
    select * from epochs_compared
    union all
    select * from nodes_compared
    union all
    select * from refusals_compared
)

select * from final
