-- Each setting with a value that a broker prints is the value of its history at that time, and the history has no other nodes and settings.
with events as (
    select * from {{ ref('stg_logs__configs') }}
    where config_class = 'KafkaConfig' and node_id is not null
),

settings as (
    select * from {{ ref('dim_node_settings') }}
),

printed as (
    select
        cluster_id,
        node_id,
        logged_at,
        explode(settings) as (setting, setting_value)
    from events
),

-- Of two configurations of the same millisecond, either.
grouped as (
    select
        cluster_id,
        node_id,
        logged_at,
        setting,
        collect_set(setting_value) as setting_values
    from printed
    group by cluster_id, node_id, logged_at, setting
),

missing as (
    select
        grouped.cluster_id,
        grouped.node_id,
        grouped.setting,
        grouped.logged_at as found_at
    from grouped
    left join settings
        on
            grouped.cluster_id = settings.cluster_id
            and grouped.node_id = settings.node_id
            and grouped.setting = settings.setting
            and grouped.logged_at >= settings.valid_from
            and (settings.valid_to is null or grouped.logged_at < settings.valid_to)
            and (
                settings.is_hidden
                or array_contains(grouped.setting_values, settings.setting_value)
            )
    where settings.node_setting_key is null
),

invented as (
    select
        settings.cluster_id,
        settings.node_id,
        settings.setting,
        settings.valid_from as found_at
    from settings
    left anti join grouped using (cluster_id, node_id, setting)
    where settings.known_by = 'log'
),

final as (
    select * from missing
    union all
    select * from invented
)

select * from final
