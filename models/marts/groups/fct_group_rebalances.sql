with coordinated as (
    select * from {{ ref('int_groups__rebalances_coordinated') }}
),

consumers as (
    select * from {{ ref('int_consumers__rebalances') }}
),

incarnations as (
    select
        *,
        lag(doubtful_from) over (partition by cluster_id order by cluster_incarnation) is not null
            as is_begin_unknown
    from {{ ref('int_clusters__incarnations') }}
),

-- One row per rebalance: of a group with a coordinator, or of one ZooKeeper consumer.
rebalances as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        group_incarnation,
        generation_id,
        if(is_epoch, 'consumer_protocol', 'coordinator') as rebalance_kind,
        cast(null as string) as member_id,
        coordinator_id,
        noticed_at,
        started_at,
        completed_at,
        ended_at,
        outcome,
        cause.reason,
        reason_kind,
        coalesce(members, nullif(cast(members_reporting as int), 0)) as members,
        cast(null as int) as retries,
        cast(null as int) as partitions_owned,
        outcome = 'failed' as is_failed,
        is_stuck,
        evidence,
        evidence_count,
        starts > 1 as has_begun_again,
        coordinators > 1 as has_several_coordinators,
        coordinators = 0 as is_reported_by_members_only,
        is_started_by_members,
        is_stuck_doubtful,
        has_ended_before,
        outcome = 'moved' and is_successor_missing as is_successor_missing,
        cast(false as boolean) as is_group_derived
    from coordinated
    union all
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        1 as group_incarnation,
        cast(null as int) as generation_id,
        'zookeeper_consumer' as rebalance_kind,
        member_id,
        cast(null as int) as coordinator_id,
        started_at as noticed_at,
        started_at,
        completed_at,
        completed_at as ended_at,
        case
            when is_failed then 'failed'
            when completed_at is null then 'open'
            else 'completed'
        end as outcome,
        given_up_because as reason,
        reason_kind,
        cast(null as int) as members,
        retries,
        cast(partitions_owned as int) as partitions_owned,
        is_failed,
        false as is_stuck,
        evidence,
        evidence_count,
        false as has_begun_again,
        false as has_several_coordinators,
        false as is_reported_by_members_only,
        false as is_started_by_members,
        false as is_stuck_doubtful,
        false as has_ended_before,
        false as is_successor_missing,
        true as is_group_derived
    from consumers
),

numbered as (
    select
        *,
        row_number() over (
            partition by cluster_id, cluster_incarnation, group_id
            order by noticed_at, generation_id, member_id
        ) as rebalance_number
    from rebalances
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'group_incarnation', 'generation_id', 'member_id',
                "case when member_id is not null then started_at end"
            ])
        }} as group_rebalance_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('coordinator_id') }} as node_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        group_id,
        group_incarnation,
        generation_id,
        rebalance_kind,
        member_id,
        coordinator_id,
        started_at,
        completed_at,
        ended_at,
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
                'reported by members only, not by a coordinator': 'is_reported_by_members_only',
                'only members say when it began': 'is_started_by_members',
                'it was started more than once': 'has_begun_again',
                'more than one coordinator reports it': 'has_several_coordinators',
                'no end in the logs': "outcome = 'open'",
                'how it ended is unknown': "outcome = 'unknown'",
                'its coordinator logged nothing more about groups': 'is_stuck_doubtful',
                'its generation was given twice: the start of the first is missing': 'has_ended_before',
                'the log of the next coordinator is missing: it may have ended there':
                    'is_successor_missing',
                'group derived from the consumer id': 'is_group_derived',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs':
                    'coalesce(completed_at, ended_at, noticed_at) > incarnations.doubtful_from',
                'this incarnation of the cluster began at an unknown time: the rebalance may have begun before it':
                    'incarnations.is_begin_unknown and rebalance_number = 1 and generation_id > 1'
            })
        }} as warnings
    from numbered
    left join incarnations using (cluster_id, cluster_incarnation)
)

select * from final
