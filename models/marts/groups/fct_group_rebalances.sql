with rebalances as (
    select * from {{ ref('int_groups__rebalances') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'group_life', 'generation_id', 'member_id',
                "case when member_id is not null then noticed_at end"
            ])
        }} as group_rebalance_key,
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'group_id']) }} as group_key,
        group_id,
        group_life,
        generation_id,
        rebalance_kind,
        member_id,
        coordinator_id,
        started_at,
        completed_at,
        cast(noticed_at as date) as rebalance_date,
        unix_millis(completed_at) - unix_millis(started_at) as duration_ms,
        outcome,
        reason,
        reason_kind,
        members,
        retries,
        partitions_owned,
        is_failed,
        is_stuck,
        evidence,
        evidence_count,
        {{
            warnings({
                'no coordinator speaks of it': 'is_told_by_members_alone',
                'it began more than once': 'has_begun_again',
                'more than one coordinator speaks of it': 'has_several_coordinators',
                'no end in the logs': "outcome = 'open'",
                'how it ended is not known': "outcome = 'unknown'",
                'the group is taken from the id of the consumer': 'is_group_derived'
            })
        }} as warnings
    from rebalances
)

select * from final
