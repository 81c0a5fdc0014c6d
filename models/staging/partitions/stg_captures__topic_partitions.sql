with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        captured_known_by,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        {{ field('leader_id', 'int') }} as leader_id,
        {{ field('replicas', 'array<int>') }} as replicas,
        {{ field('isr', 'array<int>') }} as isr,
        {{ field('adding_replicas', 'array<int>') }} as adding_replicas
    from capture_rows
    where row_kind = 'topic_partition'
)

select * from final
