-- sqlfluff:exclude_rules:LT02,LT05,AM04,AL07,ST06
{#- `at`, `node`, `topic` and `key`: columns of the fact. `sentence`: one row in words. Rows with the same `like` (else: the same sentence), one
    soon after the other, are one row of the answer, which names what they are `of`, and `most` of their milliseconds. -#}
{% set partition = ['topic_name', "'-'", 'partition_id'] %}
{% set facts = {
    'fct_leader_elections': {'at': 'elected_at', 'node': 'leader_id', 'topic': 'topic_name', 'key': 'leader_election_key',
        'sentence': partition + ["' leader epoch '", 'leader_epoch', "': leader '", 'leader_id', "' ('", "replace(election_kind, '_', ' ')", "')'"],
        'like': ["'leader '", 'leader_id', "' ('", "replace(election_kind, '_', ' ')", "')'"], 'of': partition},
    'fct_leaderless_windows': {'at': 'started_at', 'node': 'last_leader_id', 'topic': 'topic_name', 'key': 'leaderless_window_key',
        'sentence': partition + ["' had no leader for '", 'duration_ms', "' ms'"],
        'like': ["'no leader'"], 'of': partition, 'most': 'duration_ms'},
    'fct_controllerless_windows': {'at': 'started_at', 'node': 'last_controller_id', 'key': 'controllerless_window_key',
        'sentence': ["'no active controller for '", 'duration_ms', "' ms'"]},
    'fct_controller_tenures': {'at': 'known_since_at', 'node': 'controller_id', 'key': 'controller_tenure_key',
        'sentence': ["'controller epoch '", 'controller_epoch', "': node '", 'controller_id']},
    'fct_session_expiries': {'at': 'expired_at', 'node': 'node_id', 'key': 'session_expiry_key',
        'sentence': ["'session of '", 'owner', "' expired: '", in_words('cause_kind')]},
    'fct_epoch_gaps': {'at': 'opened_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'epoch_gap_key',
        'sentence': ["replace(gap_kind, '_', ' ')", "': '", "coalesce(topic_name, 'cluster')", "' has '", 'epoch_kind', "' epoch '", 'found_epoch', "' instead of '", 'expected_epoch'],
        'like': ["replace(gap_kind, '_', ' ')", "' ('", 'epoch_kind', "' epoch)'"], 'of': partition},
    'fct_isr_changes': {'at': 'changed_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'isr_change_key',
        'sentence': partition + ["' in-sync set '", 'change_kind', "' to '", 'cardinality(isr_after)'],
        'like': ["'in-sync set '", 'change_kind', "' to '", 'cardinality(isr_after)'], 'of': partition},
    'fct_truncations': {'at': 'truncated_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'truncation_key',
        'sentence': partition + ["' truncated to '", 'to_offset'],
        'like': ["'truncated'"], 'of': partition},
    'fct_log_cleaner_outages': {'at': 'stopped_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'log_cleaner_outage_key',
        'sentence': ["'log cleaner stopped: '", "coalesce(cause, " ~ in_words('found_by') ~ ")"]},
    'fct_log_dir_failures': {'at': 'failed_at', 'node': 'node_id', 'key': 'log_dir_failure_key',
        'sentence': ["'log directory '", 'log_dir', "' failed'"]},
    'fct_process_failures': {'at': 'failed_at', 'node': 'node_id', 'key': 'process_failure_key',
        'sentence': ['process_name', "': '", in_words('failure_kind'), "' '", "coalesce(detail, '')"]},
    'fct_hanging_transactions': {'at': 'started_at', 'node': 'coordinator_id', 'topic': 'topic_name', 'key': 'hanging_transaction_key',
        'sentence': ["'transaction of '", 'coalesce(transactional_id, cast(producer_id as string))', "' could not be ended in '"] + partition,
        'like': ["'transaction of '", 'coalesce(transactional_id, cast(producer_id as string))', "' could not be ended'"], 'of': partition},
    'fct_remote_copy_stalls': {'at': 'started_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'remote_copy_stall_key',
        'sentence': partition + ["': '", 'failures', "' copies to remote storage failed'"],
        'like': ["'copies to remote storage failed'"], 'of': partition},
    'fct_gc_pauses': {'at': 'started_at', 'node': 'node_id', 'key': 'gc_pause_key',
        'sentence': ["'GC pause of '", 'duration_ms', "' ms'"], 'like': ["'GC pause'"], 'most': 'duration_ms'},
    'fct_process_stalls': {'at': 'started_at', 'node': 'node_id', 'key': 'process_stall_key',
        'sentence': ["'process stalled for '", 'duration_ms', "' ms'"], 'like': ["'process stalled'"], 'most': 'duration_ms'},
    'fct_thread_deadlocks': {'at': 'found_at', 'node': 'node_id', 'key': 'thread_deadlock_key',
        'sentence': ["'deadlock of '", 'cardinality(threads)', "' threads'"]},
    'fct_tool_errors': {'at': 'failed_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'tool_error_key',
        'sentence': ["coalesce(tool, 'a tool')", "' failed: '", 'message']},
    'fct_group_rebalances': {'at': 'coalesce(started_at, ended_at)', 'node': 'coordinator_id', 'key': 'group_rebalance_key',
        'sentence': ["'group '", 'group_id', "' rebalanced: '", in_words('outcome')]},
    'fct_coordinator_loads': {'at': 'started_at', 'node': 'node_id', 'topic': 'topic_name', 'key': 'coordinator_load_key',
        'sentence': ["'load of offsets partition '", 'partition_id', "': '", "replace(outcome, '_', ' ')"],
        'like': ["'load of offsets partitions: '", "replace(outcome, '_', ' ')"], 'of': ['partition_id']},
} -%}
with happened as (
{%- for fact, about in facts.items() %}
    select
        {{ about['at'] }} as happened_at,
        cluster_id,
        {{ about['node'] }} as node_id,
        {{ about.get('topic', 'cast(null as string)') }} as topic_name,
        '{{ fact }}' as fact_name,
        {{ in_one_text(about['sentence']) }} as sentence,
        {{ in_one_text(about.get('like', about['sentence'])) }} as like_sentence,
        {{ in_one_text(about['of']) if 'of' in about else 'cast(null as string)' }} as of_what,
        {{ about.get('most', 'cast(null as bigint)') }} as most_ms,
        {{ about['key'] }} as fact_key
    from {{ ref(fact) }}
    union all
{%- endfor %}
    select
        stopped_at as happened_at,
        cluster_id,
        node_id,
        cast(null as string) as topic_name,
        'dim_node_runs' as fact_name,
        concat('node ', cast(node_id as string), ' stopped: ', {{ in_words('end_kind') }}) as sentence,
        concat('node ', cast(node_id as string), ' stopped: ', {{ in_words('end_kind') }}) as like_sentence,
        cast(null as string) as of_what,
        cast(null as bigint) as most_ms,
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
        concat('node ', cast(node_id as string), ' started') as like_sentence,
        cast(null as string) as of_what,
        cast(null as bigint) as most_ms,
        node_run_key as fact_key
    from {{ ref('dim_node_runs') }}
),

asked as (
    select
        *,
        lag(happened_at) over (
            partition by cluster_id, node_id, fact_name, like_sentence
            order by happened_at, fact_key
        ) as happened_before_at
    from happened
    where
        happened_at is not null
        -- Without coalesce DataFusion drops the condition where the column is a null constant.
        and {{ question_filter(node='node_id', topic="coalesce(topic_name, '')", start='happened_at') }}
),

-- What follows within ten seconds, as the bursts of incidents do, goes with what was before.
numbered as (
    select
        *,
        sum(case when happened_at <= happened_before_at + interval '10 seconds' then 0 else 1 end) over (
            partition by cluster_id, node_id, fact_name, like_sentence
            order by happened_at, fact_key
            rows between unbounded preceding and current row
        ) as burst
    from asked
),

placed as (
    select
        *,
        row_number() over (
            partition by cluster_id, node_id, fact_name, like_sentence, burst
            order by happened_at, fact_key
        ) as place,
        dense_rank() over (
            partition by cluster_id, node_id, fact_name, like_sentence, burst
            order by of_what
        ) as place_of_what
    from numbered
),

together as (
    select
        cluster_id,
        node_id,
        fact_name,
        like_sentence,
        burst,
        min(happened_at) as happened_at,
        max(happened_at) as last_happened_at,
        min(sentence) as sentence,
        min(case when place = 1 then fact_key end) as fact_key,
        count(*) as fact_rows,
        max(most_ms) as most_ms,
        min(case when place_of_what = 1 then of_what end) as first_of_what,
        min(case when place_of_what = 2 then of_what end) as second_of_what,
        min(case when place_of_what = 3 then of_what end) as third_of_what,
        count(distinct of_what) as of_whats
    from placed
    group by cluster_id, node_id, fact_name, like_sentence, burst
)

select
    happened_at,
    last_happened_at,
    cluster_id,
    node_id,
    case
        when fact_rows = 1 then sentence
        -- `concat` and null: Spark says null, DataFusion leaves it out.
        else like_sentence || ', ' || cast(fact_rows as string) || ' times'
            || coalesce(', for up to ' || cast(most_ms as string) || ' ms', '')
            || coalesce(': ' || first_of_what, '')
            || coalesce(', ' || second_of_what, '')
            || coalesce(', ' || third_of_what, '')
            || case when of_whats > 3 then ' and ' || cast(of_whats - 3 as string) || ' more' else '' end
    end as sentence,
    fact_rows,
    fact_name,
    fact_key
from together
order by happened_at, fact_name, fact_key, sentence
