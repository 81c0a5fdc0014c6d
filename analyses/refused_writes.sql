select
    cluster_id,
    topic_name,
    partition_id,
    node_id,
    process_name,
    hour_at,
    first_at,
    last_at,
    refusals,
    isr,
    in_sync_replicas,
    min_insync_replicas,
    write_refusals_hourly_key
from {{ ref('fct_write_refusals_hourly') }}
where
    {{ question_filter(
        node='node_id',
        topic='topic_name',
        partition='partition_id',
        start='first_at',
        end='last_at'
    ) }}
order by
    hour_at asc, cluster_id asc, topic_name asc, partition_id asc, process_name asc,
    write_refusals_hourly_key asc
