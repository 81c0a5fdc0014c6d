with errors as (
    select
        * except (captured_at),
        captured_at as failed_at
    from {{ ref('int_tools__errors') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

placed as (
    {{ with_topic_incarnation('errors', at='failed_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'failed_at', 'tool', 'command', 'request', 'message', 'group_id',
                'topic_name', 'partition_id'
            ])
        }} as tool_error_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        failed_at,
        cast(failed_at as date) as failed_date,
        tool,
        command,
        request,
        failure_kind,
        error_class,
        message,
        brokers,
        group_id,
        topic_name,
        topic_incarnation,
        partition_id,
        evidence,
        evidence_count,
        array_union(
            capture_warnings,
            {{
                warnings({
                    'the output has no timestamp': 'failed_at is null',
                    'the tool is unknown': 'tool is null'
                })
            }}
        ) as warnings
    from placed
)

select * from final
