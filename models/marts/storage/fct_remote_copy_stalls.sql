{{ config(meta={'at': 'started_at'}) }}

with stalls as (
    select * from {{ ref('int_logs__remote_copy_stalls') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'topic_name', 'partition_id', 'started_at'
            ])
        }} as remote_copy_stall_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        partition_id,
        started_at,
        cast(started_at as date) as started_date,
        last_failed_at,
        ended_at,
        unix_millis(ended_at) - unix_millis(started_at) as duration_ms,
        failures,
        exception,
        exception_message,
        evidence,
        evidence_count,
        {{
            warnings({
                'no copy is logged after it': 'ended_at is null',
                'the node that wrote the log is unknown': 'node_id is null'
            })
        }} as warnings
    from stalls
)

select * from final
