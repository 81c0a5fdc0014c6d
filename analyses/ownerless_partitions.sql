select
    cluster_id,
    group_id,
    topic_name,
    partition_id,
    started_at,
    ended_at,
    duration_ms,
    last_owner,
    next_owner,
    cause_kind,
    consumer_ownership_gap_key
from {{ ref('fct_consumer_ownership_gaps') }}
where {{ question_filter(
    group='group_id',
    topic='topic_name',
    partition='partition_id',
    start='started_at',
    end='ended_at'
) }}
order by
    duration_ms desc nulls first,
    started_at asc,
    partition_id asc,
    consumer_ownership_gap_key asc
