with epochs as (
    select * from {{ ref('int_partitions__epochs_cached') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_life', 'node_id',
                'term_epoch', 'change_kind', 'leader_epoch'
            ])
        }} as cached_epoch_key,
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_life']) }}
            as topic_key,
        topic_name,
        partition_id,
        node_id,
        term_epoch as controller_epoch,
        changed_at,
        cast(changed_at as date) as changed_date,
        change_kind,
        stored.leader_epoch as stored_epoch,
        stored.leader_id as stored_leader_id,
        cached.leader_epoch as cached_epoch,
        cached.leader_id as cached_leader_id,
        greatest(stored.leader_epoch - cached.leader_epoch, 0) as epochs_behind,
        evidence,
        evidence_count,
        {{
            warnings({
                'no line of the node says what it had before': 'cached is null',
                'the node had an epoch of which no election is known yet': 'coalesce(cached.leader_epoch > stored.leader_epoch, false)'
            })
        }} as warnings
    from epochs
)

select * from final
