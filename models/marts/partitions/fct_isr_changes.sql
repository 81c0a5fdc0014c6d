with changes as (
    select * from {{ ref('int_partitions__isr_changes') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation',
                'changed_at', 'partition_epoch', "array_join(isr_before, ',')", "array_join(isr_after, ',')"
            ])
        }} as isr_change_key,
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation']) }}
            as topic_key,
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
                'reported after a later change': 'is_logged_late',
                'derived: without a leader nobody is in sync': 'is_emptied',
                'replicas both left and joined': 'size(removed) > 0 and size(added) > 0'
            })
        }} as warnings
    from changes
)

select * from final
