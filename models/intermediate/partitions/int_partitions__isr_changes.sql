with states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

-- The previous set as the leader states it takes precedence over the last record; a state reported twice is one change.
final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        changed_at,
        node_id,
        leader_epoch,
        partition_epoch,
        coalesce(isr_before, previous_isr) as isr_before,
        isr as isr_after,
        array_except(coalesce(stated_before, previous_members), isr_members) as removed,
        array_except(isr_members, coalesce(stated_before, previous_members)) as added,
        coalesce(stated_before <> previous_members, false) as is_one_missing,
        is_logged_late,
        is_emptied,
        evidence,
        evidence_count
    from states
    where
        coalesce(stated_before, previous_members) <> isr_members
        and (previous_members is null or previous_members <> isr_members)
)

select * from final
