with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        coalesce(
            node_id,
            case
                when {{ field('entity_kind') }} = 'broker' then {{ field('entity_name', 'int') }}
            end
        ) as node_id,
        captured_at,
        event_date,
        row_kind,
        source_id,
        source_path,
        byte_offset,
        row_number,
        coalesce({{ field('config_name') }}, {{ field('name') }}) as setting,
        coalesce(
            {{ given(field('config_value')) }},
            {{ given(field('value')) }},
            -- kafka-configs prints null for every secret; that its value comes from somewhere says
            -- that it has one.
            case
                when
                    {{ field('is_sensitive') }} = 'true'
                    and {{ given(field('synonyms')) }} is not null
                    then '[hidden]'
            end
        ) as setting_value
    from capture_rows
    where
        row_kind = 'setting'
        or (
            row_kind = 'config'
            and {{ field('entity_kind') }} = 'broker'
            and {{ field('scope') }} = 'all'
        )
)

select * from final
