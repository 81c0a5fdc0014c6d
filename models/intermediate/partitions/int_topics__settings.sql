with logged as (
    select * from {{ ref('stg_logs__topic_settings') }}
),

described as (
    select * from {{ ref('stg_captures__topics') }}
    where settings_list <> '' and captured_at is not null
),

configs as (
    select * from {{ ref('stg_captures__topic_configs') }}
    where captured_at is not null
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

partition_lives as (
    select * from {{ ref('int_partitions__lives') }}
),

-- One row per record that lists all that is set for a topic.
listed as (
    select
        cluster_id,
        topic_name,
        logged_at,
        source_path,
        byte_offset,
        {{ listed_settings('settings_list') }} as settings
    from logged
    where setting is null
),

-- What the list before it has and this one has not is removed; the lists of describes have more, for example what is set for the brokers.
followed as (
    select
        *,
        filter(
            lag(settings) over (
                partition by cluster_id, topic_name order by logged_at, source_path, byte_offset
            ),
            earlier -> not exists(settings, kept -> kept.setting = earlier.setting)
        ) as removed
    from listed
),

-- A controller that starts prints once more what was set one after the other, and ends with what holds.
single as (
    select
        *,
        lead(logged_at) over (
            partition by cluster_id, node_id, topic_name, setting
            order by logged_at, source_path, byte_offset
        ) as next_logged_at
    from logged
    where setting is not null
),

stated as (
    select
        cluster_id,
        topic_name,
        logged_at as stated_at,
        source_path,
        byte_offset,
        'log' as known_by,
        explode(
            concat(
                settings,
                transform(
                    coalesce(removed, array()),
                    gone -> named_struct(
                        'setting', gone.setting, 'setting_value', cast(null as string)
                    )
                )
            )
        ) as one
    from followed
    union all
    select
        cluster_id,
        topic_name,
        logged_at as stated_at,
        source_path,
        byte_offset,
        'log' as known_by,
        named_struct('setting', setting, 'setting_value', setting_value) as one
    from single
    where coalesce(next_logged_at > logged_at + interval 10 seconds, true)
    union all
    select
        cluster_id,
        topic_name,
        captured_at as stated_at,
        source_path,
        byte_offset,
        'describe' as known_by,
        explode({{ listed_settings('settings_list') }}) as one
    from described
    union all
    select
        cluster_id,
        topic_name,
        captured_at as stated_at,
        source_path,
        byte_offset,
        'describe' as known_by,
        named_struct('setting', setting, 'setting_value', setting_value) as one
    from configs
),

placed as (
    {{ placed('stated', at='stated_at') }}
),

in_lives as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.one.setting,
        {{ given('placed.one.setting_value') }} as setting_value,
        placed.stated_at,
        placed.source_path,
        placed.byte_offset,
        placed.known_by
    from placed
    left join lives on {{ placed_in_life('placed', at='stated_at') }}
),

known_topics as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation
    from partition_lives
    group by cluster_id, cluster_incarnation, topic_name, topic_incarnation
),

-- Of what is stated at the same time, the last.
in_order as (
    select
        *,
        lead(stated_at) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, topic_incarnation, setting
            order by stated_at, source_path, byte_offset
        ) as next_stated_at
    from in_lives
),

compared as (
    select
        *,
        lag(struct(setting_value)) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, topic_incarnation, setting
            order by stated_at
        ) as previous
    from in_order
    where next_stated_at is null or next_stated_at > stated_at
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        setting,
        stated_at as valid_from,
        lead(stated_at) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, topic_incarnation, setting
            order by stated_at
        ) as valid_to,
        setting_value,
        known_by
    from compared
    inner join known_topics using (cluster_id, cluster_incarnation, topic_name, topic_incarnation)
    where
        (previous is null and setting_value is not null)
        or not coalesce(previous.setting_value <=> setting_value, true)
)

select * from final
