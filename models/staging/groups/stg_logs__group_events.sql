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
        {{ has_role([
            'rebalance_start',
            'group_stabilisation',
            'group_assignment',
            'group_emptying',
            'group_unload',
            'group_removal',
            'group_state_load',
            'group_join_start',
            'group_join_failure',
            'group_leave',
            'member_join',
            'member_departure',
            'member_failure',
            'group_join',
            'group_sync',
            'consumer_group_sign',
            'coordinator_address',
            'tombstone_failure',
            'group_load',
            'group_sighting',
            'ended_generation',
            'group_epoch',
            'group_coordinator_sign',
            'classic_group_sign',
            'connect_group_sign',
        ]) }}
        and (
            fields['group_id'] is not null
            -- In 0.9 a client names the coordinator that it gives up, and not the group.
            or {{ has_role('coordinator_address') }}
            -- A load names a partition, with all of its groups.
            or {{ has_role('group_load') }}
        )
)

select * from final
