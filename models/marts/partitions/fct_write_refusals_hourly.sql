with refusals as (
    select * from {{ ref('int_partitions__write_refusals') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('refusals', at='first_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'process_name', 'topic_name', 'partition_id', 'hour_at'
            ])
        }} as write_refusals_hourly_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        topic_name,
        topic_incarnation,
        partition_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        first_at,
        last_at,
        refusals,
        refusals_after_append,
        isr,
        in_sync_replicas,
        min_insync_replicas,
        evidence,
        evidence_count,
        {{
            warnings({
                'reported by a producer; the brokers count the same refusals': 'node_id is null',
                'no record states min.insync.replicas': 'min_insync_replicas is null'
            })
        }} as warnings
    from placed
)

select * from final
