with refusals as (
    select * from {{ ref('int_partitions__write_refusals') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'process_name', 'topic_name', 'partition_id', 'hour_at'
            ])
        }} as write_refusals_hourly_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        topic_name,
        partition_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        hour(hour_at) as hour_of_day,
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
    from refusals
)

select * from final
