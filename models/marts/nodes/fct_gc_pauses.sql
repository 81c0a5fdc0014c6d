{{ config(meta={'at': 'started_at'}) }}

with pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'process_name', 'started_at', 'uptime_ms', 'row_kind']) }}
            as gc_pause_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        owner,
        process_name,
        pause_kind,
        collector,
        cause,
        failure,
        row_kind,
        started_at,
        cast(uptime_ms as double) as uptime_ms,
        ended_at,
        cast(started_at as date) as started_date,
        cast(round(duration_ms) as bigint) as duration_ms,
        cast(round(cpu_ms) as bigint) as cpu_ms,
        heap_before_bytes,
        heap_after_bytes,
        heap_total_bytes,
        evidence,
        evidence_count,
        array_union(
            log_warnings,
            {{
                warnings({
                    'the log has no wall-clock time': 'started_at is null',
                    'the process prints several client ids': 'has_several_clients'
                })
            }}
        ) as warnings
    from pauses
)

select * from final
