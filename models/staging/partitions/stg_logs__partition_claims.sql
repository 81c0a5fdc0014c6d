with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        -- Records of the controller, the leader and the followers, requests, metadata that was merely
        -- cached, and records of the next epoch.
        case
            when {{ has_role('controller_decision') }} then 'controller'
            when {{ has_role('leader_start') }} then 'leader'
            when {{ has_role('follower_start') }} then 'follower'
            when {{ has_role(['metadata_receipt', 'metadata_order']) }} then 'metadata'
            when {{ has_role('partition_succession') }} then 'successor'
            else 'request'
        end as claim_kind,
        -- The controller's records of its own orders, wherever it logs them; until 2.5 a leader
        -- logs in server.log, without the in-sync set that it has listed in state-change.log since.
        case
            when
                {{ has_role([
                    'controller_decision',
                    'leader_and_isr_order',
                    'metadata_order',
                    'partition_succession',
                ]) }}
                then 'controller_log'
            when {{ has_role('metadata_receipt') }} then 'metadata_cache'
            when {{ has_role('leader_start') }} and fields['isr'] is null then 'broker_log'
            else 'state_change_log'
        end as reported_by,
        {{ field('topic_id') }} as topic_id,
        {{ field('state_before') }} as state_before,
        case
            when {{ has_role('partition_succession') }} then {{ field('previous_leader', 'int') }}
            else
                coalesce(
                    {{ field('leader', 'int') }},
                    case when {{ has_role('leader_start') }} then node_id end
                )
        end as leader_id,
        case
            when {{ has_role('partition_succession') }}
                then {{ field('previous_leader_epoch', 'int') }}
            else {{ field('leader_epoch', 'int') }}
        end as leader_epoch,
        case
            when
                {{ has_role('partition_succession') }} and {{ field('leader', 'int') }} = -1
                then {{ field('leader_epoch', 'int') }}
        end as leaderless_epoch,
        {{ field('partition_epoch', 'int') }} as partition_epoch,
        {{ field('isr', 'array<int>') }} as isr,
        {{ field('replicas', 'array<int>') }} as replicas,
        -- KRaft brokers print -1 in place of the ZooKeeper-mode controller epoch.
        nullif({{ field('controller_epoch', 'int') }}, -1) as controller_epoch,
        case
            when
                {{ has_role(['leader_and_isr_receipt', 'metadata_receipt']) }}
                then {{ field('controller', 'int') }}
            when {{ has_role('controller_statement') }} then node_id
        end as controller_id,
        {{ field('start_offset', 'bigint') }} as start_offset
    from events
    where
        {{ has_role([
            'controller_decision',
            'leader_start',
            'follower_start',
            'leader_and_isr_order',
            'leader_and_isr_receipt',
            'leadership_skip',
            'follower_refusal',
            'metadata_order',
            'metadata_receipt',
            'controller_statement',
            'controller_write',
            'partition_succession',
        ]) }}
        and topic_name is not null
        and partition_id is not null
        -- The topic is being deleted; the state beside it is made up.
        and coalesce({{ field('leader', 'int') }}, -1) <> -2
)

select * from final
