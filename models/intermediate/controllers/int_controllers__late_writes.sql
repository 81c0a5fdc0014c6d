with terms as (
    select * from {{ ref('int_controllers__terms_led') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

-- Orders in a controller's own log after another controller was elected. A node that was elected
-- again, or was restarted, does not go back to an old epoch: that would be another life of ZooKeeper.
final as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch,
        -- The request that sends a state to each broker is not counted as a write.
        count(distinct claims.topic_name, claims.partition_id, claims.leader_epoch) as late_writes,
        max(claims.logged_at) as last_write_at,
        {{ evidence(at='claims.logged_at', line='claims') }} as late_evidence
    from terms
    inner join claims
        on
            terms.cluster_id = claims.cluster_id
            and terms.cluster_incarnation = claims.cluster_incarnation
            and terms.controller_id = claims.node_id
            and terms.controller_epoch = claims.controller_epoch
            and terms.superseded_at < claims.logged_at
            and terms.superseded_by_id <> terms.controller_id
            and (terms.reelected_at is null or terms.reelected_at > claims.logged_at)
            and (terms.next_started_at is null or terms.next_started_at > claims.logged_at)
            and {{ has_role('controller_write', 'claims.event_type') }}
    group by
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch
)

select * from final
