{{ config(meta={'at': 'known_since_at'}) }}

with tenures as (
    select * from {{ ref('int_controllers__tenures_ended') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

silences as (
    select * from {{ ref('int_processes__long_silences') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

-- Tenures in which the controller's log may have a hole, or at whose end: of one that was killed nobody knows whether it ended
-- before, and one that others ended may have gone on.
silent as (
    select
        tenures.cluster_id,
        tenures.cluster_incarnation,
        tenures.epoch_kind,
        tenures.controller_epoch
    from tenures
    inner join silences
        on
            tenures.cluster_id = silences.cluster_id
            and silences.process_name = concat('node ', tenures.controller_id)
            and coalesce(tenures.elected_at <= silences.silent_from, true)
            and (
                coalesce(tenures.ended_at >= silences.resumed_at, true)
                or (
                    tenures.end_kind in ('killed', 'superseded', 'expired')
                    and tenures.ended_at >= silences.silent_from
                )
            )
    group by
        tenures.cluster_id,
        tenures.cluster_incarnation,
        tenures.epoch_kind,
        tenures.controller_epoch
),

ordered as (
    select
        cluster_id,
        cluster_incarnation,
        'controller' as epoch_kind,
        controller_epoch,
        count(*) as leader_changes,
        bool_or(is_dated_late or is_first_in_logs) as has_doubtful_changes
    from epochs
    where controller_epoch is not null
    group by cluster_id, cluster_incarnation, controller_epoch
),

-- How long two nodes were controller: null if only one of them says so.
measured as (
    select
        *,
        row_number() over (terms) < controller_epoch as is_earlier_missing,
        lead(controller_epoch) over (terms) > controller_epoch + 1 as is_next_missing,
        lead(evidence) over (terms) as next_evidence,
        case
            when has_doubtful_overlap then null
            else coalesce(unix_millis(acted_until) - unix_millis(superseded_at), 0)
        end as overlap_ms
    from tenures
    window terms as (
        partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
    )
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'epoch_kind', 'controller_epoch']) }}
            as controller_tenure_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('controller_id') }} as node_key,
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        controller_id,
        epoch_kind,
        elected_at,
        ended_at,
        {{
            stretch(
                start='elected_at',
                last_seen='observed.last_seen_at',
                signs=['known_since_at']
            )
        }},
        superseded_at,
        known_since_at,
        cast(known_since_at as date) as elected_date,
        end_kind,
        overlap_ms,
        case when overlap_ms > 0 then superseded_by_id end as overlapping_controller_id,
        overlap_ms > 0 as is_split_brain,
        -- Records of KRaft do not name the controller of an election.
        if(epoch_kind = 'controller', coalesce(ordered.leader_changes, 0), null) as leader_changes,
        if(has_doubtful_overlap and late_writes > 0, null, late_writes) as late_writes,
        if(evidence_rank = 6, 'describe', 'log') as known_by,
        -- The election of the next, and what this one still did.
        if(
            overlap_ms > 0,
            slice(
                concat(
                    slice(next_evidence, 1, 1),
                    slice(coalesce(late_evidence, array()), 1, 8),
                    if(resigned_at > superseded_at, coalesce(resigned_evidence, array()), array())
                ),
                1,
                10
            ),
            null
        ) as overlap_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'no record from the controller itself': 'evidence_rank in (3, 4, 6)',
                'elected at an unknown time: no record tells of it before known_since_at': 'elected_at is null',
                'the next controller was elected at an unknown time: this one may have ended before ended_at': 'is_superseded_before and ended_at = superseded_at',
                'records name different controllers': 'controllers_named > 1',
                'its log has nothing for much longer than usual: it may have ended at another time':
                    'silent.cluster_id is not null',
                'the next epoch is missing: it may have been superseded before superseded_at':
                    "epoch_kind = 'controller' and is_next_missing and superseded_at is not null",
                'it ended at the latest when the state of the cluster was lost: no record says when':
                    "end_kind = 'superseded' and superseded_at is null",
                'an earlier controller may have ordered some of the leader changes':
                    "epoch_kind = 'controller' and is_earlier_missing and ordered.has_doubtful_changes",
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs':
                    'coalesce(ended_at, known_since_at) > incarnations.doubtful_from',
                'only one node says that it overlapped the next': 'has_doubtful_overlap',
                'a later leader may have written over its records': 'may_be_written_over'
            })
        }} as warnings
    from measured
    left join ordered using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
    left join silent using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
    left join incarnations using (cluster_id, cluster_incarnation)
    left join observed using (cluster_id, cluster_incarnation)
)

select * from final
