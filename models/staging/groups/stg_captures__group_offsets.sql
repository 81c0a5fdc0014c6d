with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        captured_known_by,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('group_id') }} as group_id,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        {{ field('current_offset', 'bigint') }} as committed_offset,
        {{ field('log_end_offset', 'bigint') }} as end_offset,
        {{ field('lag', 'bigint') }} as lag,
        coalesce({{ field('member_id') }}, {{ field('owner') }}) as member_id
    from capture_rows
    where row_kind = 'group_offset' and fields['group_id'] is not null and captured_at is not null
)

select * from final
