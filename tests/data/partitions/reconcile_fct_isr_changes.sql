-- Each in-sync set that a leader logs as stored, and that differs from the one it logged before, is
-- the result of a change; and each change begins with the result of the previous one, unless it
-- warns that one is missing.
with stored_sets as (
    select * from {{ ref('stg_logs__isr_changes') }}
    where statement_kind = 'stored' and isr is not null and partition_epoch is not null
),

mart_rows as (
    select * from {{ ref('fct_isr_changes') }}
),

followed_sets as (
    select
        cluster_id,
        topic_name,
        partition_id,
        partition_epoch,
        sort_array(isr) as isr,
        lag(sort_array(isr)) over (
            partition by cluster_id, topic_name, partition_id
            order by partition_epoch, logged_at, source_path, byte_offset
        ) as previous_isr
    from stored_sets
),

not_a_change as (
    select
        followed_sets.cluster_id,
        followed_sets.topic_name,
        followed_sets.partition_id,
        followed_sets.partition_epoch
    from followed_sets
    left anti join mart_rows
        on
            followed_sets.cluster_id = mart_rows.cluster_id
            and followed_sets.topic_name = mart_rows.topic_name
            and followed_sets.partition_id = mart_rows.partition_id
            and followed_sets.partition_epoch = mart_rows.partition_epoch
            and followed_sets.isr = sort_array(mart_rows.isr_after)
    where followed_sets.previous_isr <> followed_sets.isr
),

followed_changes as (
    select
        cluster_id,
        topic_name,
        partition_id,
        partition_epoch,
        isr_before,
        warnings,
        lag(isr_after) over (
            partition by topic_key, partition_id
            order by changed_at, partition_epoch, isr_change_key
        ) as previous_isr
    from mart_rows
),

broken_chain as (
    select
        cluster_id,
        topic_name,
        partition_id,
        partition_epoch
    from followed_changes
    where
        previous_isr <> isr_before
        and not array_contains(warnings, 'the change before it is not in the logs')
),

final as (
    select * from not_a_change
    union all
    select * from broken_chain
)

select * from final
