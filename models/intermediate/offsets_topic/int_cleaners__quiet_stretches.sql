with signs_and_rolls as (
    select * from {{ ref('int_cleaners__surroundings') }}
),

-- Each sign of life begins a stretch; what stands in it before the next is its silence. A stop ends what can be said.
numbered as (
    select
        *,
        count_if(sign in ('alive', 'restarted')) over (so_far) as stretch_number,
        last_value(case when sign in ('alive', 'restarted', 'stopping') then sign end, true)
            over (so_far) as turn
    from signs_and_rolls
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id
        order by signed_at, sign, source_path, byte_offset
        rows between unbounded preceding and current row
    )
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        stretch_number,
        min(case when sign in ('alive', 'restarted') then signed_at end) as alive_at,
        max(witness in ('cleaning', 'cleaning_begun')) as is_cleaning,
        max(witness = 'cleaning_begun') as is_at_work,
        max(sign = 'dead' and witness = 'thread_error') as is_told,
        min(case when sign = 'dead' and witness = 'thread_dump' then signed_at end) as dumped_at,
        min(case when sign = 'dead' and witness = 'metric' then signed_at end) as measured_at,
        count_if(sign = 'heard') as hours_heard,
        count_if(sign = 'rolled') as segments_rolled,
        max(case when sign = 'rolled' then signed_at end) as last_rolled_at,
        {{ evidence("sign not in ('rolled', 'heard')", at='signed_at') }} as evidence,
        count_if(sign not in ('rolled', 'heard')) as evidence_count,
        {{ evidence("sign = 'rolled'", at='signed_at') }} as roll_evidence
    from numbered
    where coalesce(turn, '') <> 'stopping'
    group by cluster_id, cluster_incarnation, node_id, stretch_number
)

select * from final
