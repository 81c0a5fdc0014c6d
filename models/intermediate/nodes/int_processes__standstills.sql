with pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

stalls as (
    select * from {{ ref('int_processes__stalls') }}
),

final as (
    select
        cluster_id,
        process_name,
        node_id,
        owner,
        started_at,
        ended_at,
        1 as cause_rank,
        {{ row_key(['cluster_id', 'process_name', 'started_at', 'uptime_ms', 'row_kind']) }}
            as cause_key
    from pauses
    where coalesce(cpu_ms >= duration_ms / 2, true)
    union all
    select
        cluster_id,
        process_name,
        node_id,
        owner,
        started_at,
        ended_at,
        2 as cause_rank,
        {{ row_key(['cluster_id', 'process_name', 'started_at']) }} as cause_key
    from stalls
)

select * from final
