with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        try_cast(fields['modified_at'] as timestamp) as modified_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        {{ field('leader_id', 'int') }} as leader_id,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        {{ field('isr', 'array<int>') }} as isr,
        {{ field('controller_epoch', 'int') }} as controller_epoch
    from capture_rows
    where
        row_kind = 'znode'
        and fields['leader_epoch'] is not null
        and fields['topic_name'] is not null
        and fields['partition_id'] is not null
)

select * from final
