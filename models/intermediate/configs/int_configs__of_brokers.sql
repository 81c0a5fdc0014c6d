with owned as (
    select *
    from {{ ref('int_configs__owned') }}
    where owner_kind = 'broker'
),

latest as (
    {{ latest_per(
            'owned',
            ['cluster_id', 'node_id'],
            ['found_at desc nulls last', 'source_path desc', 'byte_offset desc']
        ) }}
),

exploded as (
    select
        *,
        explode(settings) as (setting, value)
    from latest
),

named as (
    select
        cluster_id,
        found_at,
        source_path,
        coalesce(offsets[setting], byte_offset) as byte_offset,
        concat('@broker.', setting) as setting,
        value,
        -- Clients are limited by the narrowest value of all brokers.
        if(setting in ('group.min.session.timeout.ms', 'message.max.bytes'), 1, -1)
        * try_cast(value as double) as narrowness
    from exploded
    where
        setting in (
            'group.min.session.timeout.ms',
            'group.max.session.timeout.ms',
            'message.max.bytes',
            'min.insync.replicas',
            'default.replication.factor'
        )
),

chosen as (
    {{ latest_per(
            'named',
            ['cluster_id', 'setting'],
            ['narrowness desc', 'source_path', 'byte_offset']
        ) }}
),

final as (
    select
        cluster_id,
        setting,
        value,
        struct(found_at as measured_at, source_path, byte_offset) as line
    from chosen
    where narrowness is not null
)

select * from final
