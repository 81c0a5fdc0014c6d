with terms as (
    select * from {{ ref('int_controllers__terms') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

followed as (
    select
        *,
        lag(controller_epoch) over (term) as previous_epoch,
        lag(known_since_at) over (term) as previous_known_since_at
    from terms
    window term as (
        partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
    )
),

-- The quorum's epoch also rises with every vote that elects nobody: an epoch that any line explains is not missing.
explained as (
    select
        followed.cluster_id,
        followed.cluster_incarnation,
        followed.epoch_kind,
        followed.controller_epoch,
        count(distinct quorum_events.quorum_epoch) as explained_epochs
    from followed
    inner join quorum_events
        on
            followed.cluster_id = quorum_events.cluster_id
            and followed.previous_epoch < quorum_events.quorum_epoch
            and followed.controller_epoch > quorum_events.quorum_epoch
            and followed.previous_known_since_at <= quorum_events.logged_at
            and quorum_events.logged_at <= followed.known_since_at + interval 1 minute
    where followed.epoch_kind = 'metadata'
    group by
        followed.cluster_id,
        followed.cluster_incarnation,
        followed.epoch_kind,
        followed.controller_epoch
),

final as (
    select
        followed.cluster_id,
        followed.cluster_incarnation,
        followed.epoch_kind,
        'skipped' as gap_kind,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        cast(null as int) as topic_incarnation,
        cast(null as int) as node_id,
        followed.previous_epoch + 1 as expected_epoch,
        followed.controller_epoch as found_epoch,
        cast(
            followed.controller_epoch
            - followed.previous_epoch
            - 1
            - coalesce(explained.explained_epochs, 0) as int
        ) as missing_epochs,
        followed.previous_known_since_at as opened_at,
        followed.known_since_at as closed_at,
        followed.evidence,
        followed.evidence_count
    from followed
    left join explained using (cluster_id, cluster_incarnation, epoch_kind, controller_epoch)
    where
        followed.controller_epoch
        - followed.previous_epoch
        - 1
        - coalesce(explained.explained_epochs, 0)
        > 0
)

select * from final
