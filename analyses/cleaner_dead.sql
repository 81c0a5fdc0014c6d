select
    cluster_id,
    node_id,
    topic_name,
    partition_id,
    stopped_at,
    ended_at,
    duration_ms,
    found_by,
    cause,
    log_cleaner_outage_key
from {{ ref('fct_log_cleaner_outages') }}
where {{ question_filter(
    node='node_id',
    topic='topic_name',
    partition='partition_id',
    start='stopped_at',
    end='ended_at'
) }}
order by ended_at asc nulls first, stopped_at asc, log_cleaner_outage_key asc
