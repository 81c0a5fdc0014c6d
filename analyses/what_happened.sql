-- sqlfluff:exclude_rules:LT02,LT05,AM04,AL07
{% set words = {
    'fct_leader_elections': ['elected_at', 'leader_id', 'topic_name', 'leader_election_key', [
        'topic_name', "'-'", 'partition_id', "' leader epoch '", 'leader_epoch', "': leader '", 'leader_id', "' ('", "replace(election_kind, '_', ' ')", "')'"]],
    'fct_leaderless_windows': ['started_at', 'last_leader_id', 'topic_name', 'leaderless_window_key', [
        'topic_name', "'-'", 'partition_id', "' had no leader for '", "coalesce(cast(duration_ms as string), '?')", "' ms'"]],
    'fct_controllerless_windows': ['started_at', 'last_controller_id', none, 'controllerless_window_key', [
        "'no active controller for '", "coalesce(cast(duration_ms as string), '?')", "' ms'"]],
    'fct_controller_tenures': ['known_since_at', 'controller_id', none, 'controller_tenure_key', [
        "'controller epoch '", 'controller_epoch', "': node '", 'controller_id']],
    'fct_session_expiries': ['expired_at', 'node_id', none, 'session_expiry_key', [
        "'session of '", "coalesce(owner, '?')", "' expired: '", in_words('cause_kind')]],
    'fct_epoch_gaps': ['opened_at', 'node_id', 'topic_name', 'epoch_gap_key', [
        "replace(gap_kind, '_', ' ')", "': '", "coalesce(topic_name, 'cluster')", "' has '", 'epoch_kind', "' epoch '", 'found_epoch', "' instead of '", 'expected_epoch']],
    'fct_isr_changes': ['changed_at', 'node_id', 'topic_name', 'isr_change_key', [
        'topic_name', "'-'", 'partition_id', "' in-sync set '", 'change_kind', "' to '", 'cardinality(isr_after)']],
    'fct_truncations': ['truncated_at', 'node_id', 'topic_name', 'truncation_key', [
        'topic_name', "'-'", 'partition_id', "' truncated to '", 'to_offset']],
    'fct_log_cleaner_outages': ['stopped_at', 'node_id', 'topic_name', 'log_cleaner_outage_key', ["'log cleaner stopped: '", "coalesce(cause, " ~ in_words('found_by') ~ ")"]],
    'fct_log_dir_failures': ['failed_at', 'node_id', none, 'log_dir_failure_key', ["'log directory '", 'log_dir', "' failed'"]],
    'fct_process_failures': ['failed_at', 'node_id', none, 'process_failure_key', [
        'process_name', "': '", in_words('failure_kind'), "' '", "coalesce(detail, '')"]],
    'fct_hanging_transactions': ['started_at', 'coordinator_id', 'topic_name', 'hanging_transaction_key', [
        "'transaction of '", "coalesce(transactional_id, cast(producer_id as string), '?')", "' could not be ended in '", 'topic_name', "'-'", 'partition_id']],
    'fct_remote_copy_stalls': ['started_at', 'node_id', 'topic_name', 'remote_copy_stall_key', [
        'topic_name', "'-'", 'partition_id', "': '", 'failures', "' copies to remote storage failed'"]],
    'fct_gc_pauses': ['started_at', 'node_id', none, 'gc_pause_key', ["'GC pause of '", 'duration_ms', "' ms'"]],
    'fct_process_stalls': ['started_at', 'node_id', none, 'process_stall_key', ["'process stalled for '", "coalesce(cast(duration_ms as string), '?')", "' ms'"]],
    'fct_thread_deadlocks': ['found_at', 'node_id', none, 'thread_deadlock_key', ["'deadlock of '", 'cardinality(threads)', "' threads'"]],
    'fct_tool_errors': ['failed_at', 'node_id', 'topic_name', 'tool_error_key', ["coalesce(tool, 'a tool')", "' failed: '", 'message']],
    'fct_group_rebalances': ['coalesce(started_at, ended_at)', 'coordinator_id', none, 'group_rebalance_key', [
        "'group '", 'group_id', "' rebalanced: '", in_words('outcome')]],
    'fct_coordinator_loads': ['started_at', 'node_id', 'topic_name', 'coordinator_load_key', [
        "'load of offsets partition '", 'partition_id', "': '", "replace(outcome, '_', ' ')"]],
} -%}
with happened as (
{%- for fact, columns in words.items() %}
    select
        {{ columns[0] }} as happened_at,
        cluster_id,
        {{ columns[1] }} as node_id,
        {% if columns[2] %}{{ columns[2] }}{% else %}cast(null as string){% endif %} as topic_name,
        '{{ fact }}' as fact_name,
        concat({% for word in columns[4] %}{% if loop.index > 1 %}, {% endif %}coalesce(cast({{ word }} as string), '?'){% endfor %}) as sentence,
        {{ columns[3] }} as fact_key
    from {{ ref(fact) }}
    {% if not loop.last %}union all{% endif %}
{%- endfor %}
    union all
    select
        stopped_at as happened_at,
        cluster_id,
        node_id,
        cast(null as string) as topic_name,
        'dim_node_runs' as fact_name,
        concat('node ', cast(node_id as string), ' stopped: ', {{ in_words('end_kind') }}) as sentence,
        node_run_key as fact_key
    from {{ ref('dim_node_runs') }}
    union all
    select
        started_at as happened_at,
        cluster_id,
        node_id,
        cast(null as string) as topic_name,
        'dim_node_runs' as fact_name,
        concat('node ', cast(node_id as string), ' started') as sentence,
        node_run_key as fact_key
    from {{ ref('dim_node_runs') }}
)

select
    happened_at,
    cluster_id,
    node_id,
    sentence,
    fact_name,
    fact_key
from happened
where
    happened_at is not null
    -- Without coalesce DataFusion drops the condition where the column is a null constant.
    and {{ question_filter(node='node_id', topic="coalesce(topic_name, '')", start='happened_at') }}
order by happened_at, fact_name, fact_key, sentence
