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
        lead(if(sign = 'restarted', signed_at, null)) ignore nulls over (turns) as restarted_at,
        lead(
            if(sign = 'restarted', struct(node_id, source_path, byte_offset), null)
        ) ignore nulls over (turns) as restarted_line,
        lead(if(sign = 'stopping', signed_at, null)) ignore nulls over (turns) as stopping_at,
        count_if(sign = 'alive') over (thread_before) as life_number,
        lead(if(sign = 'alive', signed_at, null)) ignore nulls over (lives) as alive_at,
        lead(
            if(sign = 'alive', struct(node_id, source_path, byte_offset), null)
        ) ignore nulls over (lives) as alive_line
    from signs
    window
        before as (
            partition by cluster_id, cluster_incarnation, node_id, process_name
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ),
        turns as (
            partition by cluster_id, cluster_incarnation, node_id, process_name
            order by signed_at, source_path, byte_offset
        ),
        thread_before as (
            partition by cluster_id, cluster_incarnation, node_id, process_name, cleaner_thread
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ),
        lives as (
            partition by cluster_id, cluster_incarnation, node_id, process_name, cleaner_thread
            order by signed_at, source_path, byte_offset
        )
),

-- Most errors name no partition: the thread's previous record shows which one it was cleaning, if any.
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
                cluster_id,
                cluster_incarnation,
                node_id,
                process_name,
                cleaner_thread,
                cleaner_state_number
            order by signed_at, source_path, byte_offset
        ) as last_words
    from turned
)

select * from final
