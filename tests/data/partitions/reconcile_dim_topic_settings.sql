-- min.insync.replicas of a topic is what dim_partition_settings says of its partitions, at the times at which it is set, unless a
-- refused write states another one.
with settings as (
    select * from {{ ref('dim_topic_settings') }}
    where setting = 'min.insync.replicas' and known_by = 'log' and setting_value is not null
),

partition_settings as (
    select * from {{ ref('dim_partition_settings') }}
),

final as (
    select
        settings.topic_setting_key,
        settings.topic_key
    from settings
    left join partition_settings
        on
            settings.topic_key = partition_settings.topic_key
            and settings.valid_from + interval 1 minute >= partition_settings.valid_from
            and coalesce(settings.valid_from < partition_settings.valid_to, true)
            and cast(settings.setting_value as int) = partition_settings.min_insync_replicas
    where partition_settings.topic_key is null
)

select * from final
