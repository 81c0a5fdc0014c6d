select
    cluster_id,
    node_id,
    partition_id,
    count(*) as hours,
    count(*) filter (where is_abnormal) as abnormal_hours,
    min(hour_at) filter (where is_abnormal) as first_abnormal_at,
    sum(bytes_growth) as grown_bytes,
    max(bytes_at_end) as largest_bytes,
    sum(cleaner_runs) as cleaner_runs,
    sum(failed_tombstones) as failed_tombstones
from {{ ref('fct_offsets_topic_growth_hourly') }}
where {{ question_filter(node='node_id', partition='partition_id', start='hour_at') }}
group by cluster_id, node_id, partition_id
order by
    abnormal_hours desc,
    largest_bytes desc nulls last,
    cluster_id asc,
    node_id asc,
    partition_id asc
