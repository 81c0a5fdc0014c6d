with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        source_kind,
        {{ field('tool') }} as tool,
        {{ field('command') }} as command,
        {{ field('request') }} as request,
        {{ field('error_class') }} as error_class,
        {{ field('failure') }} as failure_kind,
        {{ field('message') }} as message,
        split({{ field('brokers') }}, ',') as brokers,
        {{ field('group_id') }} as group_id,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        warnings
    from capture_rows
    where row_kind = 'tool_error'
)

select * from final
