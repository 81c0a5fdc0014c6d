{{ config(materialized='table', file_format='parquet') }}

with states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

-- A state is not younger than those with a higher version, whenever a line first speaks of it.
timed as (
    select
        *,
        case
            when partition_epoch is null then told_at
            else min(told_at) over (
                partition by
                    cluster_id,
                    cluster_incarnation,
                    topic_name,
                    partition_id,
                    topic_life,
                    partition_epoch is null
                order by partition_epoch
                rows between current row and unbounded following
            )
        end as changed_at
    from states
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        row_number() over (life) as state_number,
        changed_at,
        told_at,
        changed_at < told_at as is_told_late,
        lead(changed_at) over (life) as next_changed_at,
        first_told.node_id,
        leader_epoch,
        partition_epoch,
        is_told_by_leader,
        is_emptied,
        first_told.isr,
        isr_members,
        array_sort(isr_before) as stated_before,
        isr_before,
        lag(isr_members) over (life) as previous_members,
        lag(first_told.isr) over (life) as previous_isr,
        evidence,
        evidence_count
    from timed
    window life as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
        order by changed_at, coalesce(partition_epoch, -1), state_name
    )
)

select * from final
