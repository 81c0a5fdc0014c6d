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
        {{ field('offset', 'bigint') }} as record_offset,
        {{ field('value_type') }} as record_type,
        {{ field('value_topic_id') }} as topic_id,
        {{ field('value_name') }} as topic_name,
        {{ field('value_partition_id', 'int') }} as partition_id,
        {{ field('value_leader', 'int') }} as leader_id,
        {{ field('value_leader_epoch', 'int') }} as leader_epoch,
        {{ int_list("translate(fields['value_isr'], '[]', '')") }} as isr,
        {{ int_list("translate(fields['value_replicas'], '[]', '')") }} as replicas
    from capture_rows
    where
        row_kind = 'record'
        and (fields['log_topic'] = '__cluster_metadata' or fields['value_type'] like '%\\_RECORD')
)

select * from final
