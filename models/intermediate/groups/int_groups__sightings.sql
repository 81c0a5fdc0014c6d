with logged as (
    select * from {{ ref('int_groups__logged') }}
),

captured as (
    select * from {{ ref('int_groups__captured') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

sightings as (
    select
        cluster_id,
        node_id,
        seen_at,
        source_path,
        byte_offset,
        group_id,
        offsets_partition_id,
        coordinator_id,
        known_by,
        members,
        cast(null as string) as group_state,
        group_kind
    from logged
    union all
    select
        cluster_id,
        cast(null as int) as node_id,
        seen_at,
        source_path,
        byte_offset,
        group_id,
        cast(null as int) as offsets_partition_id,
        coordinator_id,
        'describe' as known_by,
        members,
        group_state,
        group_kind
    from captured
),

final as (
    {{ placed('sightings', at='seen_at') }}
)

select * from final
