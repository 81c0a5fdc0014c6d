{{ config(meta={'at': 'started_at'}) }}

with hanging as (
    select * from {{ ref('int_partitions__hanging_transactions') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('hanging', at='started_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'transactional_id', 'producer_id', 'topic_name', 'partition_id', 'started_at'
            ])
        }} as hanging_transaction_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('coordinator_id') }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        coordinator_id,
        transactional_id,
        producer_id,
        topic_name,
        topic_incarnation,
        partition_id,
        started_at,
        cast(started_at as date) as started_date,
        last_seen_at,
        duration_ms,
        found_by,
        failures,
        errors,
        evidence,
        evidence_count,
        {{
            warnings({
                'no record says when it ended': "found_by = 'markers'",
                'open when the tool ran': "found_by = 'tool'"
            })
        }} as warnings
    from placed
)

select * from final
