with runs as (
    select * from {{ ref('int_nodes__runs_ended') }}
),

silences as (
    select * from {{ ref('int_processes__long_silences') }}
),

-- Runs whose log may have a hole.
silent as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number
    from runs
    inner join silences
        on
            runs.cluster_id = silences.cluster_id
            and silences.process_name = concat('node ', runs.node_id)
            and runs.first_seen_at <= silences.silent_from
            and runs.last_seen_at >= silences.resumed_at
    group by runs.cluster_id, runs.node_id, runs.run_number
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'run_number']) }} as node_run_key,
        {{ row_key(['cluster_id', 'node_id']) }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        {{ node_name() }} as node_name,
        run_number,
        process_roles as roles,
        kafka_version,
        started_at,
        ready_at,
        stopping_at,
        stopped_at,
        end_kind,
        failure_kind,
        process_failure_key,
        first_seen_at,
        last_seen_at,
        evidence,
        evidence_count,
        {{
            warnings({
                'concluded from the next start: no other node noticed its end, and its log may be missing':
                    "end_kind = 'killed' and not is_end_noticed",
                'its log has nothing for much longer than usual: it may have been restarted meanwhile':
                    'silent.cluster_id is not null',
                'nothing names its node: it is known by its file alone (--node says which node it is)':
                    'node_id < -1'
            })
        }} as warnings
    from runs
    left join silent using (cluster_id, node_id, run_number)
)

select * from final
