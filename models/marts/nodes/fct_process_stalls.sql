{{ config(meta={'at': 'started_at'}) }}

with stalls as (
    select * from {{ ref('int_processes__stalls') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'process_name', 'started_at']) }} as process_stall_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        owner,
        process_name,
        started_at,
        ended_at,
        cast(started_at as date) as started_date,
        unix_millis(ended_at) - unix_millis(started_at) as duration_ms,
        cpu_ms,
        found_by,
        cause,
        evidence,
        evidence_count,
        {{
            warnings({
                'could also be a network failure': "found_by = 'hole'",
                'silent for more than ten minutes: it may have been restarted, and its log be missing':
                    "found_by = 'hole' and ended_at > started_at + interval 10 minutes",
                'the process prints several client ids': 'has_several_clients'
            })
        }} as warnings
    from stalls
)

select * from final
