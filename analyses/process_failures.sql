select
    cluster_id,
    node_id,
    process_name,
    failed_at,
    ended_at,
    failure_kind,
    reason_kind,
    detail,
    has_ended_process,
    process_failure_key
from {{ ref('fct_process_failures') }}
where {{ question_filter(node='node_id', start='failed_at') }}
order by failed_at asc, process_name asc, process_failure_key asc
