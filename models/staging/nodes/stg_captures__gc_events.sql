with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        {{ process_name() }} as process_name,
        captured_at as started_at,
        captured_at
        + make_dt_interval(0, 0, 0, {{ field('duration_ms', 'decimal(18,3)') }} / 1000) as ended_at,
        event_date,
        row_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('pause_kind') }} as pause_kind,
        {{ field('collector') }} as collector,
        {{ field('cause') }} as cause,
        {{ field('operation') }} as operation,
        {{ field('failure') }} as failure,
        {{ field('gc_id', 'bigint') }} as gc_id,
        {{ field('inside_gc_id', 'bigint') }} as inside_gc_id,
        {{ field('uptime_ms', 'decimal(18,3)') }} as uptime_ms,
        {{ field('duration_ms', 'decimal(18,3)') }} as duration_ms,
        {{ field('reach_ms', 'decimal(18,3)') }} as reach_ms,
        {{ field('user_ms', 'decimal(18,3)') }} + {{ field('sys_ms', 'decimal(18,3)') }} as cpu_ms,
        {{ field('heap_before_bytes', 'bigint') }} as heap_before_bytes,
        {{ field('heap_after_bytes', 'bigint') }} as heap_after_bytes,
        {{ field('heap_total_bytes', 'bigint') }} as heap_total_bytes,
        warnings
    from capture_rows
    where row_kind in ('gc_pause', 'safepoint')
)

select * from final
