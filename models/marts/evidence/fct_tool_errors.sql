with errors as (
    select * from {{ ref('int_tools__errors') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'captured_at', 'tool', 'command', 'request', 'message', 'group_id',
                'topic_name', 'partition_id'
            ])
        }} as tool_error_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        captured_at as failed_at,
        cast(captured_at as date) as failed_date,
        tool,
        command,
        request,
        failure_kind,
        error_class,
        message,
        brokers,
        group_id,
        topic_name,
        partition_id,
        evidence,
        evidence_count,
        array_union(
            capture_warnings,
            {{
                warnings({
                    'the output has no timestamp': 'captured_at is null',
                    'the tool is unknown': 'tool is null'
                })
            }}
        ) as warnings
    from errors
)

select * from final
