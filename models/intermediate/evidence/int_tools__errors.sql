with tool_errors as (
    select * from {{ ref('stg_captures__tool_errors') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The same output is often in several bundles. Without a time two outputs with the same text cannot be distinguished.
reported as (
    select
        cluster_id,
        captured_at,
        tool,
        command,
        request,
        message,
        group_id,
        topic_name,
        partition_id,
        max(node_id) as node_id,
        max(error_class) as error_class,
        min_by(failure_kind, struct(source_path, byte_offset))
        filter (where failure_kind is not null) as failure_kind,
        max(brokers) as brokers,
        sort_array(array_distinct(flatten(collect_list(warnings)))) as capture_warnings,
        {{ evidence(at='captured_at') }} as evidence,
        count(*) as evidence_count
    from tool_errors
    group by
        cluster_id,
        captured_at,
        tool,
        command,
        request,
        message,
        group_id,
        topic_name,
        partition_id
),

final as (
    {{ placed('reported', at='captured_at') }}
)

select * from final
