with runs as (
    select * from {{ ref('int_nodes__runs_ended') }}
),

silences as (
    select * from {{ ref('int_processes__long_silences') }}
),

registrations as (
    select * from {{ ref('int_nodes__second_registrations') }}
),

-- Whether the log of a run may have a hole.
silence_checked as (
    select
        runs.*,
        count(silences.cluster_id) > 0 as is_silent
    from runs
    left join silences
        on
            runs.cluster_id = silences.cluster_id
            and silences.process_name = concat('node ', runs.node_id)
            and runs.first_seen_at <= silences.silent_from
            and runs.last_seen_at >= silences.resumed_at
    group by all
),

final as (
    select
        node_run_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        {{ node_name() }} as node_name,
        run_number,
        process_roles as roles,
        kafka_version,
        started_at,
        start_number,
        ready_at,
        stopping_at,
        stopped_at,
        {{ stretch(end='stopped_at', last_seen='last_seen_at', is_open="end_kind = 'open'") }},
        end_kind,
        failure_kind,
        process_failure_key,
        first_seen_at,
        last_seen_at,
        start_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'concluded from the next start: no other node noticed its end, and its log may be missing':
                    "end_kind = 'killed' and not is_end_noticed",
                'its log has nothing for much longer than usual: it may have been restarted meanwhile':
                    'is_silent',
                'one node alone noticed its end, long after its last record: it may have ended before':
                    'is_end_late',
                'no node noticed its end: its time is derived from its fencing': 'is_end_estimated',
                'controllers registered it again meanwhile: its log lacks a restart':
                    'registrations.cluster_id is not null',
                'no record says that it got ready, though it went on: its log may lack a part':
                    "started_at is not null and ready_at is null and end_kind in ('clean', 'open') and coalesce(stopping_at, last_seen_at) > started_at + interval 10 minutes",
                'nothing names its node: it is known by its file alone (--node says which node it is)':
                    'node_id < -1'
            })
        }} as warnings
    from silence_checked
    left join registrations using (cluster_id, node_id, run_number)
)

select * from final
