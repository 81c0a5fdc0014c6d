{{ config(materialized='table', file_format='parquet') }}

with sightings as (
    select * from {{ ref('int_groups__sightings') }}
),

offsets_topics as (
    select * from {{ ref('int_groups__offsets_topics') }}
),

grouped as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        min(seen_at) as first_seen_at,
        max(seen_at) as last_seen_at,
        max(offsets_partition_id) as partition_reported,
        max_by(members, if(members is not null, struct(seen_at, members), null)) as members,
        max_by(group_state, if(group_state is not null, struct(seen_at, group_state), null))
            as group_state,
        max(if(group_kind in ('connect', 'share', 'streams'), group_kind, null)) as special_kind,
        max_by(group_kind, if(group_kind is not null, struct(seen_at, group_kind), null))
            as latest_kind,
        count(distinct source_path, byte_offset) as mentions
    from sightings
    where group_id is not null
    group by cluster_id, cluster_incarnation, group_id
),

final as (
    select
        grouped.cluster_id,
        grouped.cluster_incarnation,
        grouped.group_id,
        -- A worker or a streams application is a classic group too; its own kind says more.
        coalesce(grouped.special_kind, grouped.latest_kind, 'unknown') as group_kind,
        {{ offsets_partition('grouped.group_id', 'offsets_topics.partitions') }}
            as partition_computed,
        grouped.partition_reported,
        coalesce(
            grouped.partition_reported,
            {{ offsets_partition('grouped.group_id', 'offsets_topics.partitions') }}
        ) as offsets_partition_id,
        offsets_topics.partitions as offsets_partitions,
        offsets_topics.partitions_known_by,
        grouped.members,
        grouped.group_state,
        grouped.first_seen_at,
        grouped.last_seen_at,
        grouped.mentions
    from grouped
    inner join offsets_topics
        on
            grouped.cluster_id = offsets_topics.cluster_id
            and grouped.cluster_incarnation = offsets_topics.cluster_incarnation
)

select * from final
