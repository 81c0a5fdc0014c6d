with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where reported_by not in ('thread_dump', 'metric')
),

-- The last start or stop of the cleaner as a whole before each sign, and the next of each after it.
turned as (
    select
        *,
        last_value(case when sign in ('restarted', 'stopping') then sign end, true)
            over (before) as cleaner_state,
        count_if(sign in ('restarted', 'stopping')) over (before) as cleaner_state_number,
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

-- An error names no partition: the thread's previous record shows which one it was cleaning, if any.
final as (
    select
        *,
        lag(
            struct(
                reported_by = 'cleaning_begun' as is_begun,
                topic_name,
                partition_id,
                source_path,
                byte_offset
            )
        ) over (
            partition by
                cluster_id, cluster_incarnation, node_id, cleaner_thread, cleaner_state_number
            order by signed_at, source_path, byte_offset
        ) as last_words
    from turned
)

select * from final
