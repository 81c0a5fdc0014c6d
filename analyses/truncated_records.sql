select
    cluster_id,
    node_id,
    topic_name,
    partition_id,
    truncated_at,
    from_offset,
    to_offset,
    records_truncated,
    high_watermark,
    leader_epoch,
    reason_kind,
    truncation_key
from {{ ref('fct_truncations') }}
where
    records_truncated > 0
    and {{ question_filter(
        node='node_id',
        topic='topic_name',
        partition='partition_id',
        start='truncated_at'
    ) }}
order by records_truncated desc, truncated_at asc, truncation_key asc
