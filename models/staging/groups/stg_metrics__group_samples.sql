with samples as (
    select * from {{ ref('base_metrics__samples') }}
),

final as (
    select
        cluster_id,
        node_id,
        sampled_at,
        sampled_known_by,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        metric,
        labels['group'] as group_id,
        labels['topic'] as topic_name,
        try_cast(labels['partition'] as int) as partition_id,
        coalesce(labels['protocol_type'], labels['protocol']) as protocol,
        labels['state'] as state,
        try_cast(labels['coordinator_id'] as int) as coordinator_id,
        value
    from samples
    where
        metric in (
            'consumer_group_lag',
            'consumer_group_lag_zookeeper',
            'consumer_group_committed_offset',
            'consumer_group_members',
            'consumer_group_stable',
            'partition_end_offset',
            'consumer_group_status'
        )
        and value is not null
)

select * from final
