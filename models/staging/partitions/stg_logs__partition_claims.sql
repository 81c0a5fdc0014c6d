with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        -- The controller's own words, the leader's and the followers', requests, and what was merely cached.
        case
            when
                event_type in (
                    'partition_leader_changed', 'isr_reduced_by_controller', 'partition_created'
                )
                then 'controller'
            when event_type = 'leader_started' then 'leader'
            when event_type = 'follower_started' then 'follower'
            when event_type in ('leader_info_cached', 'update_metadata_sent') then 'metadata'
            else 'request'
        end as claim_kind,
        -- What the controller says of its own orders, wherever it logs them; until 2.5 a leader speaks in server.log, and
        -- without the in-sync set that it names in state-change.log since.
        case
            when
                event_type in (
                    'partition_leader_changed',
                    'isr_reduced_by_controller',
                    'partition_created',
                    'leader_and_isr_sent',
                    'update_metadata_sent'
                )
                then 'controller_log'
            when event_type = 'leader_info_cached' then 'metadata_cache'
            when event_type = 'leader_started' and fields['isr'] is null then 'broker_log'
            else 'state_change_log'
        end as witness,
        {{ field('topic_id') }} as topic_id,
        {{ field('state_before') }} as state_before,
        -- -2 stands where the topic is being deleted, beside the epoch that its leader had.
        nullif(
            coalesce(
                {{ field('leader', 'int') }},
                case when event_type = 'leader_started' then node_id end
            ),
            -2
        ) as leader_id,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        {{ field('partition_epoch', 'int') }} as partition_epoch,
        {{ field('isr', 'array<int>') }} as isr,
        {{ field('replicas', 'array<int>') }} as replicas,
        -- KRaft brokers print -1 where the ZooKeeper-mode controller's epoch stood.
        nullif({{ field('controller_epoch', 'int') }}, -1) as controller_epoch,
        case
            when
                event_type in ('leader_and_isr_received', 'leader_info_cached')
                then {{ field('controller', 'int') }}
            when
                event_type in (
                    'partition_leader_changed',
                    'isr_reduced_by_controller',
                    'leader_and_isr_sent',
                    'update_metadata_sent'
                )
                then node_id
        end as controller_id,
        {{ field('start_offset', 'bigint') }} as start_offset
    from events
    where
        event_type in (
            'partition_leader_changed',
            'isr_reduced_by_controller',
            'partition_created',
            'leader_started',
            'follower_started',
            'leader_and_isr_sent',
            'leader_and_isr_received',
            'leader_skipped',
            'follower_skipped',
            'leader_info_cached',
            'update_metadata_sent'
        )
        and topic_name is not null
        and partition_id is not null
)

select * from final
