{{ config(meta={'at': 'failed_at'}) }}

with failures as (
    select * from {{ ref('int_processes__failures') }}
),

runs as (
    select
        process_failure_key,
        max(run_number) as run_number,
        max_by(node_run_key, run_number) as node_run_key,
        max(stopped_at) as stopped_at
    from {{ ref('int_nodes__runs_ended') }}
    where process_failure_key is not null
    group by process_failure_key
),

final as (
    select
        failures.process_failure_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        runs.node_run_key,
        failures.cluster_id,
        failures.cluster_incarnation,
        failures.node_id,
        failures.process_name,
        failures.failed_at,
        cast(failures.failed_at as date) as failed_date,
        failures.last_sign_at,
        coalesce(runs.stopped_at, failures.ended_at) as ended_at,
        failures.failure_kind,
        failures.reason_kind,
        failures.exception,
        failures.exception_message,
        nullif(concat_ws(': ', failures.exception, failures.exception_message), '') as detail,
        runs.run_number is not null or failures.is_end as has_ended_process,
        failures.evidence,
        failures.evidence_count,
        {{
            warnings({
                'no evidence says when': 'failures.failed_at is null',
                'the process that failed is not known by its node': 'failures.node_id is null',
                'no record says that the process ended': 'not failures.is_end and runs.run_number is null',
                'concluded: the process logged nothing after this before its next start': 'not failures.is_end and runs.run_number is not null',
                'no run of the node ended then: another process of its machine may be meant': 'failures.is_capture and failures.node_id is not null and failures.failed_at is not null and runs.run_number is null'
            })
        }} as warnings
    from failures
    left join runs on failures.process_failure_key = runs.process_failure_key
)

select * from final
