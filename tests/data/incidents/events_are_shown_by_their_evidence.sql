{#-
Every event of an incident is shown by a line of its own: a record, or a part of a capture, that has the time of the event and says what happened.
`at` is when: `begin` (its own time), `end` (a stretch that is noticed when it is over: the record in which the
process says, within a second, that it waited), `hour` (any time of the hour
that it counts). `by` are the roles of the messages that say it, `recovered_by` those that say that it is over; without `by` any record counts, because
nothing but the record itself tells it: the last one of a process that was killed. A kind of event that is not here fails.
-#}
{%- set starts = ['process_start', 'node_start', 'broker_state', 'config_override', 'node_ready'] -%}
{%- set sessions = ['session_start', 'broker_znode', 'unfencing_grant', 'registration_record'] -%}
{%- set expiries = [
    'session_expiry', 'session_loss', 'session_state', 'session_expiry_notice', 'session_timeout', 'broker_znode',
    'registration_record', 'fencing_grant', 'fencing_claim', 'old_consumer_expiry',
] -%}
{%- set controllers = [
    'controller_election', 'controller_readiness', 'controller_term_statement', 'kraft_controller_activation',
    'kraft_controller_renewal', 'quorum_state', 'quorum_leader',
] -%}
{%- set quorum = controllers + [
    'controller_resignation', 'kraft_controller_resignation', 'quorum_fetch_timeout', 'quorum_election_failure', 'quorum_vote',
    'quorum_majority_loss',
] -%}
{%- set partitions = [
    'controller_decision', 'controller_statement', 'leader_start', 'follower_start', 'leadership_skip', 'isr_proposal', 'isr_update',
    'isr_write', 'metadata_receipt', 'leader_and_isr_receipt', 'shutdown_request', 'registration_record', 'unclean_election',
    'partition_state', 'leader_election_failure', 'old_leader_epoch_rejection',
] -%}
{%- set cleaners = [
    'cleaner_start', 'cleaner_stop', 'cleaner_thread_start', 'cleaner_thread_end', 'cleaning_start', 'cleaning_end', 'uncleanable_partition',
    'node_config',
] -%}
{%- set rebalances = [
    'rebalance_start', 'group_stabilisation', 'group_sighting', 'group_join', 'group_join_start', 'group_join_failure', 'group_sync',
    'member_join', 'member_departure', 'member_failure', 'old_consumer_rebalance_start', 'old_consumer_rebalance_failure',
] -%}
{%- set kinds = {
    'thread_deadlock': {'at': 'begin'},
    'log_cleaner_outage': {'at': 'begin', 'by': cleaners, 'recovered_by': cleaners},
    'offsets_growth': {'at': 'hour'},
    'resource_exhausted': {'at': 'begin'},
    'log_dir_failure': {'at': 'begin'},
    'zookeeper_stall': {'at': 'end'},
    'process_stall': {'at': 'end'},
    'network_cut': {'at': 'begin', 'by': partitions},
    'gc_pause': {'at': 'begin'},
    'process_failed': {'at': 'begin'},
    'process_death': {'at': 'begin', 'recovered_by': starts},
    'start_failed': {'at': 'begin', 'recovered_by': starts},
    'controlled_stop': {'at': 'begin', 'by': ['node_stop', 'node_stop_end', 'broker_state'], 'recovered_by': starts},
    'session_expired': {'at': 'begin', 'by': expiries, 'recovered_by': sessions},
    'client_session_expired': {'at': 'begin', 'by': expiries, 'recovered_by': sessions},
    'quorum_lost': {'at': 'begin', 'by': quorum, 'recovered_by': controllers},
    'controller_moved': {'at': 'begin', 'by': controllers},
    'split_brain': {'at': 'begin', 'by': controllers},
    'late_controller_writes': {'at': 'begin', 'by': controllers},
    'stale_node': {'at': 'begin', 'by': partitions, 'recovered_by': partitions},
    'leader_lost': {'at': 'begin', 'by': partitions},
    'leaderless': {'at': 'begin', 'by': partitions, 'recovered_by': partitions},
    'unclean_election': {'at': 'begin', 'by': partitions},
    'isr_lost': {'at': 'begin', 'by': partitions},
    'isr_shrunk': {'at': 'begin', 'by': partitions},
    'writes_refused': {'at': 'begin', 'by': ['write_refusal']},
    'records_truncated': {'at': 'begin', 'by': ['log_truncation', 'log_restart', 'follower_truncation', 'log_load']},
    'fetch_disconnects': {'at': 'begin', 'by': ['fetch_failure', 'client_disconnection']},
    'remote_copy_stalled': {'at': 'begin', 'by': ['remote_copy_failure'], 'recovered_by': ['remote_copy_end']},
    'transaction_hanging': {'at': 'begin', 'by': ['transaction_marker_failure', 'transaction_coordination']},
    'load_unfinished': {'at': 'begin', 'by': ['coordinator_load_start']},
    'rebalance_failed': {'at': 'begin', 'by': rebalances},
    'rebalance_retried': {'at': 'begin', 'by': rebalances},
    'group_stuck': {'at': 'begin', 'by': rebalances},
    'leaders_returned': {'at': 'begin', 'by': partitions},
} -%}
{#- Warnings that say that no record has the time of an event: it is concluded from others. -#}
{%- set derived = [
    'ZooKeeper did not log the expiry: its time is derived',
    'no node noticed its end: its time is derived from its fencing',
    'derived: the leader was the only in-sync replica when it lost leadership',
    'the next election names it: it began before started_at',
    'the next election names it: it was earlier than elected_at',
    'it stopped between stopped_at (last sign of life) and noticed_at',
] -%}

with events as (
    select * from {{ ref('fct_incident_events') }}
),

members as (
    select * from {{ ref('int_incidents__members') }}
),

records as (
    select * from {{ ref('stg_logs__records') }}
),

recognised as (
    select * from {{ ref('base_logs__distinct_events') }}
),

capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

samples as (
    select * from {{ ref('base_metrics__samples') }}
),

lines as (
    select
        events.incident_event_key,
        events.cluster_id,
        events.event_kind,
        events.role = 'recovery' and members.role <> 'recovery' as is_recovery,
        events.happened_at,
        members.ended_at,
        explode(events.evidence) as line
    from events
    inner join members on events.event_key = members.event_key
),

told as (
    select
        lines.*,
        records.logged_at as told_at,
        recognised.event_type,
        false as is_capture
    from lines
    inner join records
        on
            lines.cluster_id = records.cluster_id
            and lines.line.source_path = records.source_path
            and lines.line.byte_offset = records.byte_offset
    left join recognised
        on
            records.cluster_id = recognised.cluster_id
            and records.source_id = recognised.source_id
            and records.byte_offset = recognised.byte_offset
    union all
    select
        lines.*,
        capture_rows.captured_at as told_at,
        cast(null as string) as event_type,
        true as is_capture
    from lines
    inner join capture_rows
        on
            lines.cluster_id = capture_rows.cluster_id
            and lines.line.source_path = capture_rows.source_path
            and lines.line.byte_offset = capture_rows.byte_offset
    union all
    select
        lines.*,
        samples.sampled_at as told_at,
        cast(null as string) as event_type,
        true as is_capture
    from lines
    inner join samples
        on
            lines.cluster_id = samples.cluster_id
            and lines.line.source_path = samples.source_path
            and lines.line.byte_offset = samples.byte_offset
),

own as (
    select incident_event_key
    from told
    where
        case
            when is_recovery
                then
                    told_at = happened_at
                    and case event_kind
                        {%- for kind, shown in kinds.items() if shown.recovered_by %}
                            when '{{ kind }}'
                                then is_capture or {{ has_role(shown.recovered_by) }}
                        {%- endfor %}
                        else false
                    end
            else
                case event_kind
                    {%- for kind, shown in kinds.items() %}
                        when '{{ kind }}'
                            then
                                {%- if shown.at == 'hour' %}
                                    told_at >= happened_at
                                    and told_at <= happened_at + interval 1 hour
                                {%- elif shown.at == 'end' %}
                                    told_at >= ended_at
                                    and told_at <= ended_at + interval 1 second
                                {%- else %}
                                    told_at = happened_at
                                {%- endif %}
                                {%- if shown.by %}
                                    and (is_capture or {{ has_role(shown.by) }})
                                {%- endif %}
                    {%- endfor %}
                    else false
                end
        end
    group by incident_event_key
),

final as (
    select
        events.cluster_id,
        events.happened_at,
        events.event_kind,
        events.role,
        events.sentence,
        events.incident_event_key
    from events
    left anti join own on events.incident_event_key = own.incident_event_key
    where
        events.role = 'recovery'
        or not arrays_overlap(
            events.warnings,
            array(
                {%- for warning in derived %}
                    '{{ warning }}'{{ ',' if not loop.last }}
                {%- endfor %}
            )
        )
)

select * from final
