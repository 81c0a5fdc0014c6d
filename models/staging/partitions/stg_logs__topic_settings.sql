with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

-- ZooKeeper mode names the path of what is set; 0.8 sets topics alone.
named as (
    select
        *,
        case
            when {{ field('topic') }} is not null then {{ field('topic') }}
            when startswith({{ field('resource') }}, 'topics/')
                then substring_index({{ field('resource') }}, '/', -1)
            when lower({{ field('resource_type') }}) = 'topic' then {{ field('resource') }}
        end as set_topic,
        -- "min.insync.replicas -> 2" among the others, in 0.8 "{min.insync.replicas=2}".
        get(
            filter(
                transform(
                    split(coalesce({{ field('settings_list') }}, ''), ','),
                    one -> translate(one, '{}()>', '')
                ),
                one -> startswith(trim(one), 'min.insync.replicas')
            ),
            0
        ) as listed
    from events
    where {{ has_role(['topic_setting', 'resource_settings']) }}
),

final as (
    select
        {{ event_columns() }},
        set_topic as topic_name,
        if({{ has_role('topic_setting') }}, {{ field('setting') }}, null) as setting,
        if({{ has_role('topic_setting') }}, {{ given(field('setting_value')) }}, null)
            as setting_value,
        if({{ has_role('topic_setting') }}, null, coalesce({{ field('settings_list') }}, ''))
            as settings_list,
        case
            when {{ has_role('topic_setting') }}
                then
                    if(
                        {{ field('setting') }} = 'min.insync.replicas',
                        {{ field('setting_value', 'int') }},
                        null
                    )
            else
                try_cast(
                    translate(substring(trim(listed), length('min.insync.replicas') + 1), '=-', '')
                    as int
                )
        end as min_insync_replicas
    from named
    where set_topic is not null
)

select * from final
