{#- Each fact with the column that names its node. -#}
{%- set facts = {
    'fct_cached_epochs': 'node_id',
    'fct_config_findings': 'node_id',
    'fct_controller_tenures': 'controller_id',
    'fct_controllerless_windows': 'last_controller_id',
    'fct_coordinator_loads': 'node_id',
    'fct_epoch_gaps': 'node_id',
    'fct_fetcher_disconnects_hourly': 'node_id',
    'fct_gc_pauses': 'node_id',
    'fct_group_coordinators': 'coordinator_id',
    'fct_group_rebalances': 'coordinator_id',
    'fct_hanging_transactions': 'coordinator_id',
    'fct_isr_changes': 'node_id',
    'fct_leader_elections': 'leader_id',
    'fct_leaderless_windows': 'last_leader_id',
    'fct_log_cleaner_outages': 'node_id',
    'fct_log_dir_failures': 'node_id',
    'fct_metrics_hourly': 'node_id',
    'fct_offsets_topic_growth_hourly': 'node_id',
    'fct_parse_coverage_daily': 'node_id',
    'fct_process_failures': 'node_id',
    'fct_process_stalls': 'node_id',
    'fct_remote_copy_stalls': 'node_id',
    'fct_resource_samples': 'node_id',
    'fct_session_expiries': 'node_id',
    'fct_sources': 'node_id',
    'fct_thread_deadlocks': 'node_id',
    'fct_tool_errors': 'node_id',
    'fct_truncations': 'node_id',
    'fct_under_replicated_windows': 'replica_id',
    'fct_write_refusals_hourly': 'node_id',
} -%}
{#- Facts that processes without a number may write, too: such a process is known by its file. -#}
{%- set facts_of_files = [
    'fct_config_findings',
    'fct_log_dir_failures',
    'fct_process_failures',
    'fct_resource_samples',
    'fct_truncations',
] -%}
with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

listed as (
    select * from {{ ref('int_nodes__listed') }}
),

-- Every node that a fact or a list of nodes names, also those of which there is no log.
named as (
    {%- for fact, node in facts.items() %}
        select
            cluster_id,
            cluster_incarnation,
            {{ node }} as node_id
        from {{ ref(fact) }}
        where {{ node }} <> -1
        union
    {%- endfor %}
    select
        cluster_id,
        cluster_incarnation,
        node_id
    from listed
),

files as (
    {%- for fact in facts_of_files %}
        select
            cluster_id,
            node_id,
            get(evidence, 0).source_path as source_path
        from {{ ref(fact) }}
        where node_id < -1
        {{ 'union' if not loop.last }}
    {%- endfor %}
),

files_of_nodes as (
    select
        cluster_id,
        node_id,
        min(source_path) as source_path
    from files
    group by cluster_id, node_id
),

members as (
    select
        cluster_id,
        node_id,
        max(cluster_incarnation) as cluster_incarnation
    from named
    group by cluster_id, node_id
),

logged as (
    select
        cluster_id,
        node_id,
        max(cluster_incarnation) as last_incarnation,
        max(writer) as writer,
        max_by(process_roles, run_number) filter (where process_roles is not null) as process_roles,
        max_by(kafka_version, run_number) filter (where kafka_version is not null) as kafka_version,
        min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at,
        cast(count(started_at) as int) as starts
    from runs
    group by cluster_id, node_id
),

joined as (
    select
        cluster_id,
        node_id,
        greatest(logged.last_incarnation, members.cluster_incarnation) as cluster_incarnation,
        coalesce(logged.writer, files_of_nodes.source_path) as writer,
        logged.process_roles,
        logged.kafka_version,
        logged.first_seen_at,
        logged.last_seen_at,
        logged.starts
    from logged
    full outer join members using (cluster_id, node_id)
    left join files_of_nodes using (cluster_id, node_id)
),

final as (
    select
        {{ node_key() }} as node_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        {{ node_name() }} as node_name,
        process_roles as roles,
        kafka_version,
        first_seen_at,
        last_seen_at,
        starts
    from joined
)

select * from final
