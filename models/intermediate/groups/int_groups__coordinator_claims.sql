with sightings as (
    select * from {{ ref('int_groups__sightings') }}
),

found_groups as (
    select * from {{ ref('int_groups__identified') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

-- One row per record, row or sample that names the coordinator of a group: the coordinator's own
-- records and its loads, clients, describes.
-- The node that loads a partition coordinates all groups in it.
reported as (
    select
        sightings.cluster_id,
        sightings.cluster_incarnation,
        coalesce(sightings.group_id, found_groups.group_id) as group_id,
        sightings.coordinator_id,
        sightings.seen_at,
        sightings.known_by,
        false as is_first_in_logs,
        sightings.is_dated_by_file,
        struct(
            0 as topic_incarnation,
            0 as leader_epoch,
            sightings.source_path,
            sightings.byte_offset as position
        ) as position,
        array(struct(sightings.node_id, sightings.source_path, sightings.byte_offset)) as evidence,
        cast(1 as bigint) as evidence_count
    from sightings
    left join found_groups
        on
            sightings.cluster_id = found_groups.cluster_id
            and sightings.cluster_incarnation = found_groups.cluster_incarnation
            and sightings.offsets_partition_id = found_groups.offsets_partition_id
            and sightings.group_id is null
    where
        sightings.coordinator_id is not null
        and coalesce(found_groups.group_kind, '') <> 'zookeeper_consumer'
        and (
            sightings.offsets_partition_id is null
            or coalesce(sightings.group_id, found_groups.group_id) is not null
        )
),

-- Whoever leads the group's partition of __consumer_offsets is its coordinator.
led as (
    select
        found_groups.cluster_id,
        found_groups.cluster_incarnation,
        found_groups.group_id,
        epochs.leader_id as coordinator_id,
        epochs.elected_at as seen_at,
        'election' as known_by,
        epochs.is_first_in_logs,
        false as is_dated_by_file,
        struct(
            epochs.topic_incarnation,
            epochs.leader_epoch,
            '' as source_path,
            cast(0 as bigint) as position
        ) as position,
        epochs.evidence,
        epochs.evidence_count
    from found_groups
    inner join epochs
        on
            found_groups.cluster_id = epochs.cluster_id
            and found_groups.cluster_incarnation = epochs.cluster_incarnation
            and found_groups.offsets_partition_id = epochs.partition_id
    where
        epochs.topic_name = '__consumer_offsets'
        and found_groups.group_kind <> 'zookeeper_consumer'
),

led_groups as (
    select distinct
        cluster_id,
        cluster_incarnation,
        group_id
    from led
),

claims as (
    select * from led
    union all
    select reported.*
    from reported
    left anti join led_groups
        on
            reported.cluster_id = led_groups.cluster_id
            and reported.cluster_incarnation = led_groups.cluster_incarnation
            and reported.group_id = led_groups.group_id
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        coordinator_id,
        seen_at,
        known_by,
        is_first_in_logs,
        is_dated_by_file,
        evidence,
        evidence_count,
        row_number() over (
            partition by cluster_id, cluster_incarnation, group_id
            order by seen_at, position, coordinator_id
        ) as claim_number,
        lag(coordinator_id) over (
            partition by cluster_id, cluster_incarnation, group_id
            order by seen_at, position, coordinator_id
        ) as previous_coordinator_id
    from claims
)

select * from final
