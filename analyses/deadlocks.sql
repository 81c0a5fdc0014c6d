select
    cluster_id,
    node_id,
    found_at,
    last_found_at,
    found_by,
    threads,
    locks,
    waiting_threads,
    request_handlers_waiting,
    thread_deadlock_key
from {{ ref('fct_thread_deadlocks') }}
where {{ question_filter(node='node_id', start='found_at', end='last_found_at') }}
order by found_at, thread_deadlock_key
