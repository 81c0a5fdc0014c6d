{{ config(meta={'at': 'started_at'}) }}

with stalls as (
    select * from {{ ref('int_logs__remote_copy_stalls') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('stalls', at='started_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'topic_name', 'partition_id', 'started_at'
            ])
        }} as remote_copy_stall_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        topic_incarnation,
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
    from placed
)

select * from final
