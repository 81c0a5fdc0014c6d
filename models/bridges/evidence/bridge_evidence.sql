{#- The tables whose rows have evidence, each with its key. -#}
{%- set keys = {
    'dim_node_runs': 'node_run_key',
    'fct_cached_epochs': 'cached_epoch_key',
    'fct_config_findings': 'config_finding_key',
    'fct_consumer_ownership_gaps': 'consumer_ownership_gap_key',
    'fct_controller_tenures': 'controller_tenure_key',
    'fct_controllerless_windows': 'controllerless_window_key',
    'fct_coordinator_loads': 'coordinator_load_key',
    'fct_epoch_gaps': 'epoch_gap_key',
    'fct_fetcher_disconnects_hourly': 'fetcher_disconnects_hourly_key',
    'fct_gc_pauses': 'gc_pause_key',
    'fct_group_coordinators': 'group_coordinator_key',
    'fct_group_lag_status': 'group_lag_status_key',
    'fct_group_rebalances': 'group_rebalance_key',
    'fct_hanging_transactions': 'hanging_transaction_key',
    'fct_incident_events': 'incident_event_key',
    'fct_incidents': 'incident_key',
    'fct_isr_changes': 'isr_change_key',
    'fct_issue_exposures': 'issue_exposure_key',
    'fct_leader_elections': 'leader_election_key',
    'fct_leaderless_windows': 'leaderless_window_key',
    'fct_log_cleaner_outages': 'log_cleaner_outage_key',
    'fct_log_dir_failures': 'log_dir_failure_key',
    'fct_metrics_hourly': 'metrics_hourly_key',
    'fct_node_restarts': 'node_restart_key',
    'fct_offsets_topic_growth_hourly': 'offsets_topic_growth_hourly_key',
    'fct_process_failures': 'process_failure_key',
    'fct_process_stalls': 'process_stall_key',
    'fct_remote_copy_stalls': 'remote_copy_stall_key',
    'fct_resource_samples': 'resource_sample_key',
    'fct_session_expiries': 'session_expiry_key',
    'fct_thread_deadlocks': 'thread_deadlock_key',
    'fct_tool_errors': 'tool_error_key',
    'fct_truncations': 'truncation_key',
    'fct_under_replicated_windows': 'under_replicated_window_key',
    'fct_unrecognised_shapes': 'unrecognised_shape_key',
    'fct_write_refusals_hourly': 'write_refusals_hourly_key',
} -%}

with lines as (
    {%- for table, key in keys.items() %}
        {%- if not loop.first %}
            union all
        {%- endif %}
        select
            '{{ table }}' as fact_name,
            {{ key }} as fact_key,
            cluster_key,
            cluster_id,
            cluster_incarnation,
            posexplode(evidence) as (position, line)
        from {{ ref(table) }}
    {%- endfor %}
),

numbered as (
    select
        fact_name,
        fact_key,
        cluster_key,
        cluster_id,
        cluster_incarnation,
        position + 1 as position,
        line.node_id,
        line.source_path,
        line.byte_offset
    from lines
),

final as (
    select
        {{ row_key(['fact_name', 'fact_key', 'position']) }} as evidence_key,
        fact_name,
        fact_key,
        position,
        cluster_key,
        {{ node_key() }} as node_key,
        {{ row_key(['cluster_id', 'source_path']) }} as source_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        source_path,
        byte_offset
    from numbered
)

select * from final
