{{ config(meta={'at': 'changed_at'}) }}

with states as (
    select * from {{ ref('int_partitions__isr_states') }}
    where {{ since('changed_at') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The previous set as the leader states it takes precedence over the last record; a state reported twice is one change.
changes as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        changed_at,
        node_id,
        leader_epoch,
        coalesce(partition_epoch, confirmed_partition_epoch) as partition_epoch,
        coalesce(isr_before, previous_isr) as isr_before,
        isr as isr_after,
        array_except(coalesce(stated_before, previous_members), isr_members) as removed,
        array_except(isr_members, coalesce(stated_before, previous_members)) as added,
        coalesce(stated_before <> previous_members, false) as is_one_missing,
        stated_before is null
        and coalesce(leader_epoch > previous_leader_epoch + 1, is_first_of_epochs, false)
            as is_epoch_missing,
        coalesce(partition_epoch > previous_partition_epoch + 1, false) as is_version_missing,
        is_logged_late,
        is_told_late,
        is_epoch_dated_late,
        is_member_silent,
        is_emptied,
        evidence,
        evidence_count
    from states
    where
        coalesce(stated_before, previous_members) <> isr_members
        and (previous_members is null or previous_members <> isr_members)
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation',
                'changed_at', 'partition_epoch', "array_join(isr_before, ',')", "array_join(isr_after, ',')"
            ])
        }} as isr_change_key,
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
        changed_at,
        cast(changed_at as date) as changed_date,
        leader_epoch,
        partition_epoch,
        isr_before,
        isr_after,
        removed,
        added,
        case when size(removed) > 0 then 'shrunk' else 'expanded' end as change_kind,
        evidence,
        evidence_count,
        {{
            warnings({
                'the change before it is not in the logs': 'is_one_missing',
                'an earlier version is missing': 'is_version_missing',
                'an earlier leader epoch is missing': 'is_epoch_missing',
                'reported after a later change': 'is_logged_late',
                'the line of the leader that changed it is missing: it was before changed_at': 'is_told_late',
                'neither its leader nor a controller reports the election in time: it may be earlier than changed_at': 'is_epoch_dated_late',
                'a replica in sync does not report it: its log may be missing, and another may have been first': 'is_member_silent',
                'derived: without a leader nobody is in sync': 'is_emptied',
                'replicas both left and joined': 'size(removed) > 0 and size(added) > 0',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'changed_at > incarnations.doubtful_from'
            })
        }} as warnings
    from changes
    left join incarnations using (cluster_id, cluster_incarnation)
)

select * from final
