with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        captured_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('topic_name') }} as topic_name,
        {{ field('topic_id') }} as topic_id,
        {{ field('partition_count', 'int') }} as partition_count,
        {{ field('replication_factor', 'int') }} as replication_factor,
        {{ field('configs') }} is not null as has_settings,
        {{ field('configs') }} as settings_list,
        try_cast(
            substring_index(
                get(
                    filter(
                        split({{ field('configs') }}, ','),
                        setting -> setting like 'min.insync.replicas=%'
                    ),
                    0
                ),
                '=',
                -1
            ) as int
        ) as min_insync_replicas
    from capture_rows
    where row_kind = 'topic'
)

select * from final
