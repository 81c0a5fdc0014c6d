with group_events as (
    select * from {{ ref('stg_logs__group_events') }}
),

old_consumer_events as (
    select * from {{ ref('stg_logs__old_consumer_events') }}
),

-- In 0.9 a client names no group with its coordinator; where its file is of one group alone, it is that.
attributed as (
    select
        *,
        min(group_id) over (partition by cluster_id, source_id) as first_group_id,
        max(group_id) over (partition by cluster_id, source_id) as last_group_id
    from group_events
),

final as (
    select
        cluster_id,
        node_id,
        logged_at as seen_at,
        source_path,
        byte_offset,
        coalesce(
            group_id,
            if(
                coordinator_node is not null and first_group_id = last_group_id,
                first_group_id,
                null
            )
        ) as group_id,
        offsets_partition_id,
        case
            when coordinator_node is not null then {{ coordinator_of_node('coordinator_node') }}
            when
                event_type in (
                    'group_rebalance_started',
                    'group_stabilised',
                    'group_assignment_received',
                    'group_epoch_bumped',
                    'group_emptied',
                    'tombstones_append_failed',
                    'offsets_load_started',
                    'offsets_load_scheduled',
                    'offsets_load_completed'
                )
                then node_id
        end as coordinator_id,
        if(coordinator_node is not null, 'client', 'coordinator') as known_by,
        case when event_type = 'group_emptied' then 0 else members end as members,
        case
            when
                event_type = 'connect_rebalanced'
                or protocol in ('compatible', 'sessioned', 'connect')
                then 'connect'
            when coalesce(member_id, client_id) like '%-StreamThread-%' then 'streams'
            when coalesce(new_group_type, group_type) in ('consumer', 'classic', 'share', 'streams')
                then coalesce(new_group_type, group_type)
            when event_type in ('group_epoch_bumped', 'member_state_changed') then 'consumer'
            when
                event_type in ('group_rebalance_started', 'group_stabilised', 'group_joined')
                then 'classic'
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
)

select * from final
