with terms as (
    select * from {{ ref('int_controllers__terms') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

-- Two nodes that each log that they themselves lead the same epoch.
leaders as (
    select
        cluster_id,
        cluster_incarnation,
        'leader' as epoch_kind,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch as found_epoch,
        min(logged_at) as opened_at,
        max(logged_at) as closed_at,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from claims
    where claim_kind = 'leader'
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
    having count(distinct leader_id) > 1
),

controllers as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        cast(null as int) as topic_incarnation,
        controller_epoch as found_epoch,
        known_since_at as opened_at,
        superseded_at as closed_at,
        evidence,
        evidence_count
    from terms
    where controllers_named > 1
),

both_kinds as (
    select * from leaders
    union all
    select * from controllers
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        'duplicate_owner' as gap_kind,
        topic_name,
        partition_id,
        topic_incarnation,
        cast(null as int) as node_id,
        found_epoch as expected_epoch,
        found_epoch,
        0 as missing_epochs,
        opened_at,
        closed_at,
        evidence,
        evidence_count
    from both_kinds
)

select * from final
