with noticed as (
    select * from {{ ref('int_processes__stall_signs') }}
),

-- Several records may show the same stall: a client's log and its GC log, for example, whose names may differ.
followed as (
    select
        *,
        max(ended_at) over (
            partition by cluster_id, node_id, owner
            order by started_at, ended_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as ended_before_at
    from noticed
),

numbered as (
    select
        *,
        sum(if(started_at <= ended_before_at, 0, 1)) over (
            partition by cluster_id, node_id, owner
            order by started_at, ended_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as stall_number
    from followed
),

final as (
    select
        cluster_id,
        node_id,
        owner,
        max(process_name) as process_name,
        max(has_several_clients) as has_several_clients,
        min(started_at) as started_at,
        max(ended_at) as ended_at,
        -- the GC log is the most direct evidence, silence that others noticed the least
        max(found_by) as found_by,
        sum(cpu_ms) as cpu_ms,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from numbered
    group by cluster_id, node_id, owner, stall_number
)

select * from final
