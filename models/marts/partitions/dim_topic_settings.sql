with settings as (
    select * from {{ ref('int_topics__settings') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation', 'setting', 'valid_from'
            ])
        }} as topic_setting_key,
        {{ cluster_key() }} as cluster_key,
        {{ topic_key() }} as topic_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        setting,
        valid_from,
        valid_to,
        valid_to is null as is_current,
        setting_value,
        known_by
    from settings
)

select * from final
