with missed as (
    select * from {{ ref('int_partitions__epochs_missed') }}
),

reached as (
    select
        *,
        min(leader_epoch) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
        ) as first_epoch
    from {{ ref('int_partitions__epochs_reached') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Only nodes that were ever behind: for all others both epochs are the same.
pairs as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        bool_and(is_unheard) as is_doubtful,
        collect_list(if(is_unheard, struct(elected_at, behind_until), null)) as unheard
    from missed
    group by all
),

changes as (
    select
        pairs.*,
        epochs.elected_at as changed_at,
        'stored' as change_kind,
        epochs.leader_epoch,
        epochs.leader_id,
        epochs.is_dated_late,
        coalesce(
            epochs.previous_leader_epoch < epochs.leader_epoch - 1, false
        ) as is_epoch_missing,
        epochs.evidence,
        epochs.evidence_count
    from pairs
    inner join epochs
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation)
    union all
    select
        pairs.*,
        reached.reached_at as changed_at,
        'cached' as change_kind,
        reached.leader_epoch,
        reached.leader_id,
        -- The first epoch of a node's log may have reached it before, and so may one that it says it had.
        reached.is_reached_before
        or (
            reached.leader_epoch = reached.first_epoch
            and (
                epochs.is_first_in_logs
                or reached.reached_at > epochs.elected_at + interval 5 seconds
            )
        ) as is_dated_late,
        false as is_epoch_missing,
        array(named_struct(
            'node_id', reached.line.node_id,
            'source_path', reached.line.source_path,
            'byte_offset', reached.line.byte_offset
        )) as evidence,
        cast(1 as bigint) as evidence_count
    from pairs
    inner join reached
        on
            pairs.cluster_id = reached.cluster_id
            and pairs.cluster_incarnation = reached.cluster_incarnation
            and pairs.topic_name = reached.topic_name
            and pairs.partition_id = reached.partition_id
            and pairs.topic_incarnation = reached.topic_incarnation
            and pairs.node_id = reached.node_id
            and pairs.term_epoch <=> reached.term_epoch
    left join epochs
        on
            reached.cluster_id = epochs.cluster_id
            and reached.cluster_incarnation = epochs.cluster_incarnation
            and reached.topic_name = epochs.topic_name
            and reached.partition_id = epochs.partition_id
            and reached.topic_incarnation = epochs.topic_incarnation
            and reached.leader_epoch = epochs.leader_epoch
),

-- One row per partition, node that was ever behind, and change of the stored leader epoch or of the
-- one that the node had.
cached_epochs as (
    select
        changes.* except (term_epoch),
        term_epoch as controller_epoch,
        max(if(change_kind = 'stored', struct(leader_epoch, leader_id), null)) over (so_far)
            as stored,
        max(if(change_kind = 'cached', struct(leader_epoch, leader_id), null)) over (so_far)
            as cached
    from changes
    window so_far as (
        partition by
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            node_id,
            term_epoch
        order by changed_at asc, change_kind desc, leader_epoch asc
        rows between unbounded preceding and current row
    )
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation', 'node_id',
                'controller_epoch', 'change_kind', 'leader_epoch'
            ])
        }} as cached_epoch_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        node_id,
        controller_epoch,
        changed_at,
        cast(changed_at as date) as changed_date,
        change_kind,
        leader_epoch,
        stored.leader_epoch as stored_epoch,
        stored.leader_id as stored_leader_id,
        cached.leader_epoch as cached_epoch,
        cached.leader_id as cached_leader_id,
        greatest(stored.leader_epoch - cached.leader_epoch, 0) as epochs_behind,
        evidence,
        evidence_count,
        {{
            warnings({
                'the earlier epoch of the node is not in its log': 'cached is null',
                'the node may have had the epoch: its log may be missing at that time':
                    'is_doubtful or exists(unheard, stretch -> changed_at >= stretch.elected_at and changed_at <= coalesce(stretch.behind_until, changed_at))',
                'neither the leader nor a controller reports the election in time: it may be earlier than changed_at':
                    "change_kind = 'stored' and is_dated_late",
                'the first record of it that the log of the node has: it may have had it before': "change_kind = 'cached' and is_dated_late",
                'an epoch between the two is in no log: the node may have had it':
                    'is_epoch_missing and coalesce(cached.leader_epoch < stored.leader_epoch - 1, false)',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'changed_at > incarnations.doubtful_from',
                'the node has an epoch whose election is not known yet': 'coalesce(cached.leader_epoch > stored.leader_epoch, false)'
            })
        }} as warnings
    from cached_epochs
    left join incarnations using (cluster_id, cluster_incarnation)
)

select * from final
