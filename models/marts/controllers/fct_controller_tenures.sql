{{ config(meta={'at': 'elected_at'}) }}

with tenures as (
    select * from {{ ref('int_controllers__tenures_ended') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

ordered as (
    select
        cluster_id,
        cluster_incarnation,
        'controller' as epoch_kind,
        controller_epoch,
        count(*) as leader_changes
    from epochs
    where controller_epoch is not null
    group by cluster_id, cluster_incarnation, controller_epoch
),

-- Until when the node acted as controller, according to its own log.
measured as (
    select
        tenures.*,
        greatest(
            0,
            unix_millis(
                coalesce(
                    greatest(tenures.resigned_at, tenures.last_write_at), tenures.superseded_at
                )
            )
            - unix_millis(tenures.superseded_at)
        ) as overlap_ms
    from tenures
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'epoch_kind', 'controller_epoch']) }}
            as controller_tenure_key,
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        controller_id,
        epoch_kind,
        elected_at,
        ended_at,
        superseded_at,
        cast(elected_at as date) as elected_date,
        end_kind,
        coalesce(overlap_ms, 0) as overlap_ms,
        case when overlap_ms > 0 and superseded_by_id <> controller_id then superseded_by_id end
            as overlapping_controller_id,
        coalesce(overlap_ms > 0 and superseded_by_id <> controller_id, false) as is_split_brain,
        -- Records of KRaft do not name the controller of an election.
        if(epoch_kind = 'controller', coalesce(ordered.leader_changes, 0), null) as leader_changes,
        late_writes,
        evidence,
        evidence_count,
        {{
            warnings({
                'no record from the controller itself': 'evidence_rank > 2',
                'records name different controllers': 'controllers_named > 1',
                'a later leader wrote over its records': 'is_written_over'
            })
        }} as warnings
    from measured
    left join ordered using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
)

select * from final
