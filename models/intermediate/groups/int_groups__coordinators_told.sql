with sightings as (
    select * from {{ ref('int_groups__sightings') }}
),

found_groups as (
    select * from {{ ref('int_groups__found') }}
),

-- Who loads a partition coordinates all groups in it.
final as (
    select
        sightings.cluster_id,
        sightings.cluster_incarnation,
        coalesce(sightings.group_id, found_groups.group_id) as group_id,
        sightings.coordinator_id,
        sightings.seen_at,
        sightings.known_by,
        struct(
            0 as topic_life,
            0 as leader_epoch,
            sightings.source_path,
            sightings.byte_offset as place
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
)

select * from final
