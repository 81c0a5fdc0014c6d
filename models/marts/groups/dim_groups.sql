with found_groups as (
    select * from {{ ref('int_groups__described') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'group_id']) }} as group_key,
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
        sightings,
        {{
            warnings({
                'the count of partitions is the default': "partitions_known_by = 'default' and offsets_partition_id is not null",
                'the partition in the logs is not the computed one': 'partition_told <> partition_computed',
                'the kind of the group is not known': "group_kind = 'unknown'"
            })
        }} as warnings
    from found_groups
)

select * from final
