with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('controller', 'int') }} as controller_id,
        {{ field('controller_epoch', 'int') }} as controller_epoch,
        {{ field('latest_controller_epoch', 'int') }} as latest_controller_epoch,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        {{ field('current_leader_epoch', 'int') }} as current_leader_epoch
    from events
    where
        {{ has_role(['old_controller_rejection', 'old_leader_epoch_rejection']) }}
)

select * from final
