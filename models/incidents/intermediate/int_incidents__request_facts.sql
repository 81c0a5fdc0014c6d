with deadlocks as (
    select * from {{ ref('fct_thread_deadlocks') }}
),

rebalances as (
    select * from {{ ref('fct_group_rebalances') }}
),

groups as (
    select * from {{ ref('dim_groups') }}
),

-- A group depends on the partition of the offsets topic that its coordinator leads.
placed as (
    select
        rebalances.*,
        groups.offsets_partition_id
    from rebalances
    left join groups on rebalances.group_key = groups.group_key
    where rebalances.is_failed or rebalances.is_stuck
),

final as (
    -- A deadlock lasts until its process ends.
    select
        {{
            incident_fact(
                'fct_thread_deadlocks', 'thread_deadlock_key', "'thread_deadlock'", 'found_at', 'null',
                nodes='array_compact(array(node_id))',
                detail="array_join(threads, ', ')"
            )
        }}
    from deadlocks
    where found_at is not null
    union all
    select
        {{
            incident_fact(
                'fct_group_rebalances', 'group_rebalance_key',
                "case
                    when is_stuck then 'group_stuck'
                    when rebalance_kind = 'zookeeper_consumer' then 'rebalance_failed'
                    else 'rebalance_retried'
                end",
                'started_at', "if(is_stuck or outcome in ('completed', 'emptied'), ended_at, started_at)",
                nodes='array_compact(array(coordinator_id))', other='coordinator_id', owner='member_id',
                topic="'__consumer_offsets'", partition='offsets_partition_id', group='group_id',
                processes=evidence_processes(), detail="coalesce(" ~ in_words('reason_kind') ~ ", " ~ in_words('outcome') ~ ")",
                duration="if(outcome in ('completed', 'emptied'), duration_ms, null)", burst='group_id'
            )
        }}
    from placed
    where started_at is not null
)

select * from final
