select
    cluster_id,
    node_id,
    topic_name,
    partition_id,
    truncated_at,
    from_offset,
    to_offset,
    records_given_up,
    high_watermark,
    leader_epoch,
    reason_kind,
    truncation_key
from {{ ref('fct_truncations') }}
where
    records_given_up > 0
    and {{ given(
        node='node_id',
        topic='topic_name',
        partition='partition_id',
        start='truncated_at'
    ) }}
order by records_given_up desc, truncated_at asc, truncation_key asc
