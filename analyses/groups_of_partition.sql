select
    cluster_id,
    offsets_partition_id,
    group_id,
    offsets_partitions,
    coordinator_id,
    coordinator_known_by,
    group_kind,
    group_state,
    last_seen_at,
    group_key
from {{ ref('dim_groups') }}
where
    offsets_partition_id is not null
    and {{ question_filter(
        node='coordinator_id', partition='offsets_partition_id', group='group_id'
    ) }}
order by cluster_id, offsets_partition_id, group_id, group_key
