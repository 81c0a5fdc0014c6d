{{ config(meta={'at': 'truncated_at'}) }}

with truncations as (
    select * from {{ ref('int_logs__truncations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

judged as (
    select
        *,
        case when from_offset >= to_offset and not is_full_start then from_offset - to_offset end
            as records_truncated
    from truncations
),

placed as (
    {{ with_topic_incarnation('judged', at='truncated_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'topic_name', 'partition_id', 'truncated_at',
                'to_offset'
            ])
        }} as truncation_key,
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
        truncated_at,
        cast(truncated_at as date) as truncated_date,
        from_offset,
        to_offset,
        records_truncated,
        leader_epoch,
        high_watermark,
        case
            when is_recovery then 'recovery'
            when is_full_start then 'full_start_at'
            when is_reset then 'leader_end_offset'
            when is_to_high_watermark then 'follower_high_watermark'
            when has_reason then 'follower_epoch'
            else 'unknown'
        end as reason_kind,
        evidence,
        evidence_count,
        {{
            warnings({
                'the previous end of the log is unknown': 'from_offset is null',
                'no records truncated': 'records_truncated = 0',
                'cut below the high watermark': 'to_offset < high_watermark',
                'concluded: it was under way when the process ended': 'is_in_hand'
            })
        }} as warnings
    from placed
)

select * from final
