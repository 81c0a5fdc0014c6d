select
    cluster_id,
    topic_name,
    partition_id,
    replica_id as node_id,
    started_at,
    ended_at,
    known_by,
    under_replicated_window_key
from {{ ref('fct_under_replicated_windows') }}
where
    {% if var('at', none) is none %}ended_at is null{% else %}true{% endif %}
    and {{ question_filter(
        node='replica_id',
        topic='topic_name',
        partition='partition_id',
        start='started_at',
        end='ended_at'
    ) }}
order by started_at, under_replicated_window_key
