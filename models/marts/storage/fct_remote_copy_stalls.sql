{{ config(meta={'at': 'started_at'}) }}

with stalls as (
    select * from {{ ref('int_logs__remote_copy_stalls') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

placed as (
    {{ with_topic_incarnation('stalls', at='started_at') }}
),

ended as (
    {{ ended_with_incarnation('placed') }}
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
        ended_at,
        {{ stretch(signs=['last_failed_at']) }},
        cast(started_at as date) as started_date,
        last_failed_at,
        failures,
        exception,
        exception_message,
        if(is_end_placed, null, end_evidence) as end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'no copy is logged after it': 'ended_at is null',
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'the node that wrote the log is unknown': 'node_id is null'
            })
        }} as warnings
    from ended
)

select * from final
