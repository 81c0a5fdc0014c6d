with gaps as (
    select * from {{ ref('int_consumers__ownership_gaps') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'topic_name', 'partition_id', 'started_at'
            ])
        }} as consumer_ownership_gap_key,
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'group_id']) }} as group_key,
        group_id,
        topic_name,
        partition_id,
        last_owner,
        next_owner,
        started_at,
        ended_at,
        cast(started_at as date) as started_date,
        unix_millis(ended_at) - unix_millis(started_at) as duration_ms,
        cause_kind,
        evidence,
        cast(size(evidence) as bigint) as evidence_count,
        {{
            warnings({
                'nobody is seen to own it again': 'ended_at is null',
                'the group is taken from the id of the consumer': 'true'
            })
        }} as warnings
    from gaps
)

select * from final
