with configs as (
    select * from {{ ref('int_configs__owned') }}
    where owner_kind = 'broker'
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

listed as (
    select
        * except (settings),
        sort_array(map_entries(settings)) as settings
    from configs
),

followed as (
    select
        *,
        lag(settings) over (
            partition by cluster_id, node_id, known_by order by found_at, source_path, byte_offset
        ) as previous_settings
    from listed
),

-- A process prints its whole configuration at each start and after each change; most are as the one before. What the one before has and this one
-- has not is set no more.
stated as (
    select
        cluster_id,
        node_id,
        found_at,
        source_path,
        byte_offset,
        known_by,
        explode(
            concat(
                settings,
                transform(
                    coalesce(
                        if(
                            known_by = 'log',
                            array_except(
                                transform(previous_settings, one -> one.key),
                                transform(settings, one -> one.key)
                            ),
                            null
                        ),
                        array()
                    ),
                    gone -> named_struct('key', gone, 'value', cast(null as string))
                )
            )
        ) as one
    from followed
    where known_by <> 'log' or previous_settings is null or previous_settings <> settings
),

-- A file says what is written there, which a process may not have read yet; a capture may have no time. Both count where nothing else states the
-- setting, and without a time it holds at all times.
ranked as (
    select
        * except (one),
        one.key as setting,
        one.value as setting_value,
        known_by <> 'file' and found_at is not null as is_certain,
        bool_or(known_by <> 'file' and found_at is not null) over (
            partition by cluster_id, node_id, one.key
        ) as has_certain
    from stated
),

counted as (
    select
        * except (found_at),
        coalesce(found_at, timestamp '1970-01-01 00:00:00') as stated_at
    from ranked
    where is_certain or not has_certain
),

in_order as (
    select
        *,
        lead(stated_at) over (
            partition by cluster_id, node_id, setting
            order by stated_at, source_path, byte_offset
        ) as next_stated_at
    from counted
),

compared as (
    select
        *,
        lag(struct(setting_value)) over (
            partition by cluster_id, node_id, setting order by stated_at
        ) as previous
    from in_order
    where next_stated_at is null or next_stated_at > stated_at
),

changed as (
    select
        * except (stated_at),
        stated_at as valid_from
    from compared
    where
        (previous is null and setting_value is not null)
        or not coalesce(previous.setting_value <=> setting_value, true)
),

known_nodes as (
    select
        cluster_id,
        node_id,
        {{ row_key(['cluster_id', 'node_id']) }} as node_key
    from runs
    group by cluster_id, node_id
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'setting', 'valid_from']) }} as node_setting_key,
        known_nodes.node_key,
        cluster_id,
        node_id,
        setting,
        valid_from,
        lead(valid_from) over (
            partition by cluster_id, node_id, setting order by valid_from
        ) as valid_to,
        lead(valid_from) over (
            partition by cluster_id, node_id, setting order by valid_from
        ) is null as is_current,
        if({{ is_hidden('setting_value') }}, null, setting_value) as setting_value,
        coalesce({{ is_hidden('setting_value') }}, false) as is_hidden,
        known_by
    from changed
    left join known_nodes using (cluster_id, node_id)
)

select * from final
