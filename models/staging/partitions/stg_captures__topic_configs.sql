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
        {{ field('entity_name') }} as topic_name,
        {{ field('config_name') }} as setting,
        {{ given(field('config_value')) }} as setting_value
    from capture_rows
    where
        row_kind = 'config'
        and {{ field('entity_kind') }} = 'topic'
        and {{ field('config_name') }} is not null
        -- What `--all` lists beside it is set for the brokers, or Kafka's default.
        and (
            coalesce({{ field('scope') }}, '') <> 'all'
            or {{ field('source') }} = 'DYNAMIC_TOPIC_CONFIG'
        )
)

select * from final
