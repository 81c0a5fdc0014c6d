with group_events as (
    select * from {{ ref('stg_logs__group_events') }}
),

old_consumer_events as (
    select * from {{ ref('stg_logs__old_consumer_events') }}
),

group_offsets as (
    select * from {{ ref('stg_captures__group_offsets') }}
),

captured_groups as (
    select * from {{ ref('stg_captures__groups') }}
),

samples as (
    select * from {{ ref('stg_metrics__group_samples') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- In 0.9 a client logs its coordinator without the group; if its file belongs to a single group, it is that group.
without_group as (
    select distinct
        cluster_id,
        source_id
    from group_events
    where {{ has_role('coordinator_address') }} and group_id is null
),

sole_groups as (
    select
        group_events.cluster_id,
        group_events.source_id,
        min(group_events.group_id) as group_id
    from group_events
    inner join without_group
        on
            group_events.cluster_id = without_group.cluster_id
            and group_events.source_id = without_group.source_id
    group by group_events.cluster_id, group_events.source_id
    having min(group_events.group_id) = max(group_events.group_id)
),

attributed as (
    select
        group_events.*,
        sole_groups.group_id as sole_group_id
    from group_events
    left join sole_groups
        on
            group_events.cluster_id = sole_groups.cluster_id
            and group_events.source_id = sole_groups.source_id
            and group_events.group_id is null
),

-- One row per record of stg_logs__group_events and stg_logs__old_consumer_events, with what it
-- says of its group: partition, coordinator, members, kind.
logged as (
    select
        cluster_id,
        node_id,
        logged_at as seen_at,
        source_path,
        byte_offset,
        coalesce(group_id, if(coordinator_node is null, null, sole_group_id)) as group_id,
        offsets_partition_id,
        case
            when coordinator_node is not null then {{ coordinator_of_node('coordinator_node') }}
            when {{ has_role('group_coordinator_sign') }} then node_id
        end as coordinator_id,
        if(coordinator_node is not null, 'client', 'coordinator') as known_by,
        case when {{ has_role('group_emptying') }} then 0 else members end as members,
        case
            when
                {{ has_role('connect_group_sign') }}
                or protocol in ('compatible', 'sessioned', 'connect')
                then 'connect'
            when coalesce(member_id, client_id) like '%-StreamThread-%' then 'streams'
            when coalesce(new_group_type, group_type) in ('consumer', 'classic', 'share', 'streams')
                then coalesce(new_group_type, group_type)
            when {{ has_role('consumer_group_sign') }} then 'consumer'
            when {{ has_role('classic_group_sign') }} then 'classic'
        end as group_kind
    from attributed
    union all
    select
        cluster_id,
        node_id,
        logged_at as seen_at,
        source_path,
        byte_offset,
        {{ group_of_member('member_id') }} as group_id,
        cast(null as int) as offsets_partition_id,
        cast(null as int) as coordinator_id,
        cast(null as string) as known_by,
        cast(null as int) as members,
        'zookeeper_consumer' as group_kind
    from old_consumer_events
),

-- One row per row or sample of a capture or exporter that names a group, with what it says of
-- it: coordinator, members, state, kind.
captured as (
    select
        cluster_id,
        captured_at as seen_at,
        captured_known_by = 'modified' as is_dated_by_file,
        source_path,
        byte_offset,
        group_id,
        cast(null as int) as coordinator_id,
        cast(null as int) as members,
        cast(null as string) as group_state,
        case
            when source_kind = 'kafka_consumer_offset_checker' then 'zookeeper_consumer'
            when member_id like '%-StreamThread-%' then 'streams'
        end as group_kind
    from group_offsets
    union all
    select
        cluster_id,
        captured_at as seen_at,
        captured_known_by = 'modified' as is_dated_by_file,
        source_path,
        byte_offset,
        group_id,
        coordinator_id,
        members,
        state as group_state,
        case
            when member_id like '%-StreamThread-%' then 'streams'
            when lower(group_type) in ('classic', 'consumer', 'share', 'streams')
                then lower(group_type)
        end as group_kind
    from captured_groups
    where group_id is not null
    union all
    select
        cluster_id,
        sampled_at as seen_at,
        sampled_known_by = 'modified' as is_dated_by_file,
        source_path,
        byte_offset,
        group_id,
        coordinator_id,
        case when metric = 'consumer_group_members' then try_cast(value as int) end as members,
        state as group_state,
        case
            when protocol = 'connect' then 'connect'
            when metric = 'consumer_group_lag_zookeeper' then 'zookeeper_consumer'
        end as group_kind
    from samples
    where group_id is not null
),

sightings as (
    select
        cluster_id,
        node_id,
        seen_at,
        false as is_dated_by_file,
        source_path,
        byte_offset,
        group_id,
        offsets_partition_id,
        coordinator_id,
        known_by,
        members,
        cast(null as string) as group_state,
        group_kind
    from logged
    union all
    select
        cluster_id,
        cast(null as int) as node_id,
        seen_at,
        is_dated_by_file,
        source_path,
        byte_offset,
        group_id,
        cast(null as int) as offsets_partition_id,
        coordinator_id,
        'describe' as known_by,
        members,
        group_state,
        group_kind
    from captured
),

final as (
    {{ placed('sightings', at='seen_at') }}
)

select * from final
