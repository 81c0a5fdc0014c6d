with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('group_id') }} as group_id,
        {{ field('member_id') }} as member_id,
        {{ field('client_id') }} as client_id,
        case when topic_name = '__consumer_offsets' then partition_id end as offsets_partition_id,
        coalesce({{ field('generation_id', 'int') }}, {{ field('group_epoch', 'int') }})
            as generation_id,
        {{ field('coordinator_node', 'int') }} as coordinator_node,
        {{ field('members', 'int') }} as members,
        {{ field('duration_ms', 'bigint') }} as duration_ms,
        {{ field('reason') }} as reason,
        {{ field('group_type') }} as group_type,
        {{ field('new_group_type') }} as new_group_type,
        {{ field('protocol') }} as protocol
    from events
    where
        event_type in (
            'group_rebalance_started',
            'group_stabilised',
            'group_assignment_received',
            'group_assignment_computed',
            'group_epoch_bumped',
            'group_emptied',
            'group_dead',
            'group_loaded',
            'group_unloaded',
            'group_rebalance_failed',
            'group_protocol_converted',
            'group_metadata_write_failed',
            'member_joined',
            'member_left',
            'member_failed',
            'member_state_changed',
            'group_coordinator_found',
            'group_coordinator_lost',
            'group_joined',
            'group_synced',
            'connect_rebalanced',
            'tombstones_append_failed',
            'offset_commit_failed',
            'group_join_failed',
            'offsets_load_started',
            'offsets_load_scheduled',
            'offsets_load_completed'
        )
        and (
            fields['group_id'] is not null
            -- In 0.9 a client names the coordinator that it gives up, and not the group.
            or event_type in ('group_coordinator_found', 'group_coordinator_lost')
            -- A load names a partition, with all of its groups.
            or event_type like 'offsets\_load\_%'
        )
)

select * from final
