with lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

-- A process prints its configuration first (0.8 a line for each setting), and then that it starts.
followed as (
    select
        *,
        lead(case when lifecycle_step = 'starting' then logged_at end) ignore nulls over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
        ) as next_start_at
    from lifecycle_events
),

prefaced as (
    select
        * except (lifecycle_step, next_start_at),
        case
            when
                {{ has_role(['node_config', 'config_override']) }}
                and next_start_at <= logged_at + interval 10 seconds
                then 'starting'
            else lifecycle_step
        end as lifecycle_step
    from followed
),

-- A process says several times that it starts (server, shared server, broker, controller): once until it has started,
-- stopped, or logged nothing about it for a minute. From 1.1 on its first line is printed once.
marked as (
    select
        *,
        lag(logged_at) over (
            partition by cluster_id, node_id, lifecycle_step <=> 'starting'
            order by logged_at, source_path, byte_offset
        ) as previous_start_at,
        max(case when lifecycle_step in ('stopping', 'stopped', 'started') then logged_at end)
            over (
                partition by cluster_id, node_id
                order by logged_at, source_path, byte_offset
                rows between unbounded preceding and 1 preceding
            ) as previous_end_at,
        max(case when {{ has_role('process_start') }} then logged_at end)
            over (
                partition by cluster_id, node_id
                order by logged_at, source_path, byte_offset
                rows between unbounded preceding and current row
            ) as process_began_at
    from prefaced
),

begun as (
    select
        * except (previous_start_at, previous_end_at, process_began_at),
        coalesce(
            {{ has_role('process_start') }}
            or (
                lifecycle_step = 'starting'
                and (
                    previous_start_at is null
                    or previous_end_at > previous_start_at
                    or logged_at > previous_start_at + interval 1 minute
                )
                and (
                    process_began_at is null or logged_at > process_began_at + interval 1 minute
                )
            ),
            false
        ) as is_start
    from marked
),

final as (
    select
        *,
        cast(sum(if(is_start, 1, 0)) over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as int) as run_number
    from begun
)

select * from final
