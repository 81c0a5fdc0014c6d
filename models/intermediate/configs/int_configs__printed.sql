with configs as (
    select * from {{ ref('stg_logs__configs') }}
),

properties as (
    select * from {{ ref('stg_logs__overridden_properties') }}
),

captured as (
    select * from {{ ref('stg_captures__settings') }}
),

-- Up to 0.8 a process prints the settings it was given, one per line, sorted by name.
compared as (
    select
        *,
        setting > lag(setting) over lines
        and logged_at < lag(logged_at) over lines + interval 10 seconds as is_same_block
    from properties
    window lines as (partition by cluster_id, source_id order by logged_at, byte_offset)
),

numbered as (
    select
        *,
        sum(if(is_same_block, 0, 1)) over (
            partition by cluster_id, source_id
            order by logged_at, byte_offset
            rows between unbounded preceding and current row
        ) as block_number
    from compared
),

configured as (
    select
        cluster_id,
        node_id,
        source_id,
        source_path,
        block_number,
        logged_at as found_at,
        byte_offset,
        setting,
        setting_value,
        'given' as known_by
    from numbered
    union all
    select
        cluster_id,
        node_id,
        source_id,
        source_path,
        0 as block_number,
        captured_at as found_at,
        byte_offset,
        setting,
        setting_value,
        if(row_kind = 'config', 'describe', 'file') as known_by
    from captured
    where setting is not null
),

single as (
    {{ latest_per(
            'configured',
            ['cluster_id', 'node_id', 'source_id', 'block_number', 'setting'],
            ['byte_offset desc', 'setting_value']
        ) }}
),

final as (
    select
        cluster_id,
        node_id,
        config_class,
        source_id,
        source_path,
        logged_at as found_at,
        byte_offset,
        settings,
        map('', byte_offset) as offsets,
        'log' as known_by
    from configs
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as config_class,
        source_id,
        max(source_path) as source_path,
        min(found_at) as found_at,
        min(byte_offset) as byte_offset,
        map_from_entries(sort_array(collect_list(struct(setting, setting_value)))) as settings,
        map_from_entries(sort_array(collect_list(struct(setting, byte_offset)))) as offsets,
        known_by
    from single
    group by cluster_id, node_id, source_id, block_number, known_by
)

select * from final
