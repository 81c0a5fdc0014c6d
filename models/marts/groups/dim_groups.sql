with found_groups as (
    select * from {{ ref('int_groups__identified') }}
),

coordinators as (
    select * from {{ ref('int_groups__coordinators') }}
),

-- A tool may name a group of which nothing else is known.
tool_errors as (
    select
        cluster_id,
        cluster_incarnation,
        group_id
    from {{ ref('fct_tool_errors') }}
    where group_id is not null
    group by cluster_id, cluster_incarnation, group_id
),

-- If no node coordinates the group at the end, its last coordinator is shown.
latest as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        max_by(coordinator_id, struct(valid_from, coordinator_id)) as coordinator_id,
        max_by(known_by, struct(valid_from, coordinator_id)) as coordinator_known_by
    from coordinators
    where coordinator_id >= 0
    group by cluster_id, cluster_incarnation, group_id
),

-- One row per group, with its last coordinator.
-- An old consumer needs no coordinator; one that keeps its offsets in Kafka has the same partition for them.
with_coordinators as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        coalesce(found_groups.group_kind, 'unknown') as group_kind,
        found_groups.offsets_partition_id,
        found_groups.offsets_partitions,
        found_groups.partitions_known_by,
        found_groups.partition_reported,
        found_groups.partition_computed,
        latest.coordinator_id,
        latest.coordinator_known_by,
        found_groups.group_state,
        found_groups.members,
        found_groups.first_seen_at,
        found_groups.last_seen_at,
        found_groups.mentions
    from found_groups
    full outer join tool_errors using (cluster_id, cluster_incarnation, group_id)
    left join latest using (cluster_id, cluster_incarnation, group_id)
),

final as (
    select
        {{ group_key() }} as group_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        group_id,
        group_kind,
        offsets_partition_id,
        offsets_partitions,
        partitions_known_by,
        coordinator_id,
        coordinator_known_by,
        group_state,
        members,
        first_seen_at,
        last_seen_at,
        mentions,
        {{
            warnings({
                'number of partitions assumed to be the default': "partitions_known_by = 'default' and offsets_partition_id is not null",
                'the partition in the logs differs from the computed one': 'partition_reported <> partition_computed',
                'group kind unknown': "group_kind = 'unknown'"
            })
        }} as warnings
    from with_coordinators
)

select * from final
