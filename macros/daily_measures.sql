{#-
    The measures that reports of a day hold, in the order of their columns.  To add one, add its row
    here and run `make measures`, which writes its columns into the .yml of rpt_cluster_daily,
    rpt_node_daily and rpt_fleet_daily.

    `fact`: the table of its rows, which `where` filters.  If each row counts on one day, `day` is
    that day and `value` is summed (1 counts rows); a stretch of time from `started_at` to
    `ended_at` adds to each of its days the milliseconds in that day.
    `node`: the node it belongs to (node_id); measures of the cluster alone (null) are not in
    rpt_node_daily.  `of_node`: what the measure means there, and its name if that is another.
-#}
{% macro daily_measures() -%}
{{ return([
    {'name': 'incidents', 'fact': 'fct_incidents', 'day': 'started_date', 'node': 'null', 'where': 'not is_maintenance',
     'means': 'Incidents that began on the day'},
    {'name': 'maintenances', 'fact': 'fct_incidents', 'day': 'started_date', 'node': 'null', 'where': 'is_maintenance',
     'means': 'Maintenances that began on the day'},
    {'name': 'elections_leader_lost', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'previous_leader_id', 'where': "election_kind = 'leader_lost'",
     'means': 'Leaders that were lost by death or by the end of their session, each failure once',
     'of_node': {'name': 'leaderships_lost_to_failure', 'means': 'Times that the node lost the leadership of a partition because it died or lost its session'}},
    {'name': 'elections_controlled_shutdown', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'previous_leader_id', 'where': "election_kind = 'controlled_shutdown'",
     'means': 'Elections because of a controlled shutdown of the leader',
     'of_node': {'name': 'leaderships_lost_to_shutdown', 'means': 'Times that the node lost the leadership of a partition because it shut down'}},
    {'name': 'elections_preferred', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'previous_leader_id', 'where': "election_kind = 'preferred'",
     'means': 'Elections of the preferred leader',
     'of_node': {'name': 'leaderships_lost_to_preferred', 'means': 'Times that the node lost the leadership of a partition to the preferred leader'}},
    {'name': 'elections_reassignment', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'previous_leader_id', 'where': "election_kind = 'reassignment'",
     'means': 'Elections because replicas were reassigned',
     'of_node': {'name': 'leaderships_lost_to_reassignment', 'means': 'Times that the node lost the leadership of a partition because its replicas were reassigned'}},
    {'name': 'elections_unclean', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'unclean'",
     'means': 'Elections of a leader that was not in sync',
     'of_node': {'name': 'leaderships_won_unclean', 'means': 'Times that the node became leader of a partition without being in sync'}},
    {'name': 'elections_initial', 'fact': 'fct_leader_elections', 'day': 'elected_date', 'node': 'leader_id', 'where': "election_kind = 'initial'",
     'means': 'First elections of new partitions',
     'of_node': {'name': 'leaderships_won_initial', 'means': 'Times that the node became the first leader of a new partition'}},
    {'name': 'controller_changes', 'fact': 'fct_controller_tenures', 'day': 'elected_date', 'node': 'controller_id',
     'means': 'Elections of a controller',
     'of_node': {'name': 'controllerships_won', 'means': 'Times that the node was elected controller'}},
    {'name': 'expiries_gc_pause', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'gc_pause'",
     'means': 'Sessions that expired because of a GC pause',
     'of_node': {'means': 'Sessions of the node that expired because of a GC pause'}},
    {'name': 'expiries_process_stall', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'process_stall'",
     'means': 'Sessions that expired because their process, or the server, stalled',
     'of_node': {'means': 'Sessions of the node that expired because its process, or the server, stalled'}},
    {'name': 'expiries_process_death', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'process_death'",
     'means': 'Sessions that expired because their process had ended',
     'of_node': {'means': 'Sessions of the node that expired because its process had ended'}},
    {'name': 'expiries_network', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'network'",
     'means': 'Sessions that expired because of the network',
     'of_node': {'means': 'Sessions of the node that expired because of the network'}},
    {'name': 'expiries_unknown', 'fact': 'fct_session_expiries', 'day': 'expired_date', 'where': "cause_kind = 'unknown'",
     'means': 'Sessions that expired for an unknown reason',
     'of_node': {'means': 'Sessions of the node that expired for an unknown reason'}},
    {'name': 'isr_shrunk', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'node': 'null', 'where': "change_kind = 'shrunk'",
     'means': 'Number of times an in-sync set shrank'},
    {'name': 'isr_expanded', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'node': 'null', 'where': "change_kind = 'expanded'",
     'means': 'Number of times an in-sync set grew'},
    {'name': 'leaderless_ms', 'fact': 'fct_partition_daily', 'day': 'event_date', 'value': 'leaderless_ms', 'node': 'null',
     'means': 'Milliseconds without leader, summed over partitions'},
    {'name': 'under_replicated_ms', 'fact': 'fct_under_replicated_windows', 'started_at': 'started_at', 'ended_at': 'ended_at', 'node': 'replica_id',
     'means': 'Milliseconds out of sync, summed over replicas',
     'of_node': {'means': 'Milliseconds in which replicas on the node were out of sync, summed over partitions'}},
    {'name': 'stale_epoch_ms', 'fact': 'fct_epoch_gaps', 'started_at': 'opened_at', 'ended_at': 'ended_at', 'where': "gap_kind = 'stale_node'",
     'means': 'Milliseconds with an old epoch, summed over nodes and partitions',
     'of_node': {'means': 'Milliseconds in which the node had an old epoch, summed over partitions'}},
    {'name': 'without_session_ms', 'fact': 'fct_session_expiries', 'started_at': 'expired_at', 'ended_at': 'reconnected_at', 'where': "session_kind not in ('zookeeper_client', 'zookeeper_controller')",
     'means': 'Milliseconds from the expiry of a session to the next one, summed over nodes',
     'of_node': {'means': 'Milliseconds in which the node had no session, from the expiry of one to the next'}},
    {'name': 'stall_ms', 'fact': 'fct_process_stalls', 'started_at': 'started_at', 'ended_at': 'ended_at', 'where': 'ended_at is not null',
     'means': 'Milliseconds in which processes stalled',
     'of_node': {'means': 'Milliseconds in which processes of the node stalled'}},
    {'name': 'gc_pause_ms', 'fact': 'fct_gc_pauses', 'day': 'started_date', 'value': 'duration_ms',
     'means': 'Milliseconds of GC pauses above the threshold that began on the day',
     'of_node': {'means': 'Milliseconds of GC pauses of the node above the threshold that began on the day'}},
    {'name': 'cleaner_outage_ms', 'fact': 'fct_log_cleaner_outages', 'started_at': 'stopped_at', 'ended_at': 'ended_at', 'where': "scope <> 'partition'",
     'means': 'Milliseconds in which a log cleaner was down, summed over nodes',
     'of_node': {'means': 'Milliseconds in which a log cleaner of the node was down'}},
    {'name': 'abnormal_offsets_hours', 'fact': 'fct_offsets_topic_growth_hourly', 'day': 'hour_date', 'where': 'is_abnormal',
     'means': 'Partition-hours of abnormal growth of the offsets topic',
     'of_node': {'means': 'Partition-hours of abnormal growth of the offsets topic on the node'}},
    {'name': 'offsets_growth_bytes', 'fact': 'fct_offsets_topic_growth_hourly', 'day': 'hour_date', 'value': 'bytes_growth',
     'means': 'Growth of the offsets topic in bytes, summed over replicas',
     'of_node': {'means': 'Growth of the offsets topic on the node in bytes, summed over its replicas'}},
    {'name': 'records_truncated', 'fact': 'fct_truncations', 'day': 'truncated_date', 'value': 'records_truncated',
     'means': 'Records that replicas discarded by truncation',
     'of_node': {'means': 'Records that replicas on the node discarded by truncation'}},
]) }}
{%- endmacro %}


{#-
    Measures of nodes alone, in the same form: one row of the fact may count for several nodes, those
    in the array `each`, so that the sum over nodes is more than the number of rows.
-#}
{% macro measures_of_each_node() -%}
{{ return([
    {'name': 'isr_left', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'each': 'removed',
     'means': 'Times that a replica on the node fell out of an in-sync set'},
    {'name': 'isr_joined', 'fact': 'fct_isr_changes', 'day': 'changed_date', 'each': 'added',
     'means': 'Times that a replica on the node came into an in-sync set'},
]) }}
{%- endmacro %}
