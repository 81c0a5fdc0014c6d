with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        -- What the leader is about to do, what was stored, and what was refused.
        case
            when {{ has_role('isr_proposal') }} then 'proposed'
            when {{ has_role('isr_rejection') }} then 'rejected'
            when {{ has_role('isr_task_failure') }} then 'failed'
            else 'stored'
        end as statement_kind,
        {{ field('isr_before', 'array<int>') }} as isr_before,
        coalesce({{ field('isr', 'array<int>') }}, {{ field('isr_after', 'array<int>') }}) as isr,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        {{ field('partition_epoch', 'int') }} as partition_epoch
    from events
    -- All types stand together first, or Spark reads the events of every other type as well.
    where
        {{ has_role([
            'isr_proposal',
            'isr_update',
            'isr_write',
            'isr_rejection',
            'isr_task_failure',
        ]) }}
        and case
            when {{ has_role('isr_task_failure') }}
                then {{ field('exception') }} like 'org.apache.zookeeper.%'
            else topic_name is not null and partition_id is not null
        end
)

select * from final
