with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign <> 'uncleanable' and witness not in ('thread_dump', 'metric')
),

-- The last start or stop of the cleaner as a whole before each sign, and the next of each after it.
turned as (
    select
        *,
        last_value(case when sign in ('restarted', 'stopping') then sign end, true)
            over (before) as turn,
        count_if(sign in ('restarted', 'stopping')) over (before) as turn_number,
        min(case when sign = 'restarted' then signed_at end) over (after) as restarted_at,
        min(case when sign = 'stopping' then signed_at end) over (after) as stopping_at,
        count_if(sign = 'alive') over (thread_before) as life_number,
        min(case when sign = 'alive' then signed_at end) over (thread_after) as alive_at
    from signs
    window
        before as (
            partition by cluster_id, cluster_incarnation, node_id
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ),
        after as (
            partition by cluster_id, cluster_incarnation, node_id
            order by signed_at, source_path, byte_offset
            rows between 1 following and unbounded following
        ),
        thread_before as (
            partition by cluster_id, cluster_incarnation, node_id, cleaner_thread
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ),
        thread_after as (
            partition by cluster_id, cluster_incarnation, node_id, cleaner_thread
            order by signed_at, source_path, byte_offset
            rows between 1 following and unbounded following
        )
),

-- A thread that ends while its process stops is no outage, nor is one whose error comes of the stop.
final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        min(signed_at) as stopped_at,
        min(signed_at) as noticed_at,
        min(least(restarted_at, alive_at)) as resumed_at,
        'thread_error' as found_by,
        min_by(cause, struct(signed_at, source_path, byte_offset)) filter (where cause is not null)
            as cause,
        {{ evidence(at='signed_at') }} as evidence,
        count(*) as evidence_count
    from turned
    where
        sign = 'dead'
        and coalesce(turn, '') <> 'stopping'
        and (stopping_at is null or stopping_at > signed_at + interval 10 seconds)
    group by
        cluster_id, cluster_incarnation, node_id, cleaner_thread, turn_number, life_number
)

select * from final
