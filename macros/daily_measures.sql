{#-
    The measures that reports of a day hold, in the order of their columns.  To add one, add its row
    here and run `make measures`, which writes its columns into the .yml of rpt_cluster_daily,
    rpt_node_daily and rpt_fleet_daily.

    `fact`: the table of its rows, which `where` filters.  If each row counts on one day, `day` is
    that day and `value` is summed (1 counts rows); a stretch of time from `started_at` to
    `ended_at` adds to each of its days the milliseconds in that day.
    `node`: the node it belongs to (node_id); measures of the cluster alone (null) are not in
    rpt_node_daily.
-#}
{% macro daily_measures() -%}
{{ return([
    {'name': 'incidents', 'fact': 'fct_incidents', 'day': 'started_date', 'node': 'null', 'where': 'not is_maintenance',
     'means': 'Incidents that began on the day'},
    {'name': 'maintenances', 'fact': 'fct_incidents', 'day': 'started_date', 'node': 'null', 'where': 'is_maintenance',
     'means': 'Maintenances that began on the day'},
    {'name': 'elections_leader_lost', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'leader_lost'",
     'means': 'Elections because the leader was lost'},
    {'name': 'elections_controlled_shutdown', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'controlled_shutdown'",
     'means': 'Elections because of a controlled shutdown of the leader'},
    {'name': 'elections_preferred', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'preferred'",
     'means': 'Elections of the preferred leader'},
    {'name': 'elections_reassignment', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'reassignment'",
     'means': 'Elections because replicas were reassigned'},
    {'name': 'elections_unclean', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'unclean'",
     'means': 'Elections of a leader that was not in sync'},
    {'name': 'elections_initial', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'initial'",
     'means': 'First elections of new partitions'},
    {'name': 'controller_changes', 'fact': 'fct_controller_tenures', 'day': 'elected_date', 'node': 'controller_id',
     'means': 'Elections of a controller'},
    {'name': 'expiries_gc_pause', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'gc_pause'",
     'means': 'Sessions that expired because of a GC pause'},
    {'name': 'expiries_process_stall', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'process_stall'",
     'means': 'Sessions that expired because their process, or the server, stalled'},
    {'name': 'expiries_process_death', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'process_death'",
     'means': 'Sessions that expired because their process had ended'},
    {'name': 'expiries_network', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'network'",
     'means': 'Sessions that expired because of the network'},
    {'name': 'expiries_unknown', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'unknown'",
     'means': 'Sessions that expired for an unknown reason'},
    {'name': 'isr_shrunk', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'where': "change_kind = 'shrunk'",
     'means': 'Number of times an in-sync set shrank'},
    {'name': 'isr_expanded', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'where': "change_kind = 'expanded'",
     'means': 'Number of times an in-sync set grew'},
    {'name': 'leaderless_ms', 'fact': 'fct_partition_daily', 'day': 'event_date', 'value': 'leaderless_ms', 'node': 'null',
     'means': 'Milliseconds without leader, summed over partitions'},
    {'name': 'under_replicated_ms', 'fact': 'fct_under_replicated_windows', 'started_at': 'started_at', 'ended_at': 'ended_at', 'node': 'replica_id',
     'means': 'Milliseconds out of sync, summed over replicas'},
    {'name': 'stale_epoch_ms', 'fact': 'fct_epoch_gaps', 'started_at': 'opened_at', 'ended_at': 'closed_at', 'where': "gap_kind = 'stale_node'",
     'means': 'Milliseconds with an old epoch, summed over nodes and partitions'},
    {'name': 'without_session_ms', 'fact': 'fct_session_expiries', 'started_at': 'expired_at', 'ended_at': 'reconnected_at', 'where': "session_kind not in ('zookeeper_client', 'zookeeper_controller')",
     'means': 'Milliseconds from the expiry of a session to the next one, summed over nodes'},
    {'name': 'stall_ms', 'fact': 'fct_process_stalls', 'started_at': 'started_at', 'ended_at': 'ended_at', 'where': 'ended_at is not null',
     'means': 'Milliseconds in which processes stalled'},
    {'name': 'gc_pause_ms', 'fact': 'fct_gc_pauses', 'day': 'started_date', 'value': 'duration_ms',
     'means': 'Milliseconds of GC pauses above the threshold that began on the day'},
    {'name': 'cleaner_outage_ms', 'fact': 'fct_log_cleaner_outages', 'started_at': 'stopped_at', 'ended_at': 'resumed_at', 'where': "scope <> 'partition'",
     'means': 'Milliseconds in which a log cleaner was down, summed over nodes'},
    {'name': 'abnormal_offsets_hours', 'fact': 'fct_offsets_topic_growth_hourly', 'day': 'hour_date', 'where': 'is_abnormal',
     'means': 'Partition-hours of abnormal growth of the offsets topic'},
    {'name': 'offsets_growth_bytes', 'fact': 'fct_offsets_topic_growth_hourly', 'day': 'hour_date', 'value': 'bytes_growth',
     'means': 'Growth of the offsets topic in bytes, summed over replicas'},
    {'name': 'records_truncated', 'fact': 'fct_truncations', 'day': 'truncated_date', 'value': 'records_truncated',
     'means': 'Records that replicas discarded by truncation'},
]) }}
{%- endmacro %}
