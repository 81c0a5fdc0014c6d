with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        captured_known_by,
        row_kind,
        source_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        coalesce({{ field('group_id') }}, {{ field('group') }}) as group_id,
        {{ field('member_id') }} as member_id,
        {{ field('state') }} as state,
        {{ field('group_type') }} as group_type,
        {{ field('topic') }} as topic_name,
        {{ field('status') }} as status,
        {{ field('partition', 'int') }} as partition_id,
        {{ field('coordinator_id', 'int') }} as coordinator_id,
        {{ field('member_count', 'int') }} as members,
        {{ field('current_lag', 'bigint') }} as lag
    from capture_rows
    where
        row_kind in (
            'group_name', 'group_member', 'group_state', 'burrow_group', 'burrow_group_partition'
        )
        and captured_at is not null
)

select * from final
