{{ config(materialized='table') }}

with sightings as (
    select * from {{ ref('int_groups__sightings') }}
),

settings as (
    select
        cluster_id,
        logged_at,
        source_path,
        byte_offset,
        {{ field('offsets.topic.num.partitions', 'int') }} as partitions
    from {{ ref('base_logs__distinct_events') }}
    where {{ has_role('node_config') }} and node_id is not null
),

topics as (
    select
        cluster_id,
        captured_at,
        source_path,
        byte_offset,
        {{ field('partition_count', 'int') }} as partition_count
    from {{ ref('base_captures__rows') }}
    where row_kind = 'topic' and {{ field('topic_name') }} = '__consumer_offsets'
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The number of partitions of the offsets topic, by its source: describes, settings, elections.
described as (
    select
        cluster_id,
        max_by(partition_count, struct(captured_at, source_path, byte_offset)) as partitions
    from topics
    where partition_count is not null
    group by cluster_id
),

configured as (
    select
        cluster_id,
        max_by(partitions, struct(logged_at, source_path, byte_offset)) as partitions
    from settings
    where partitions is not null
    group by cluster_id
),

led as (
    select
        cluster_id,
        cluster_incarnation,
        max(partition_id) + 1 as partitions
    from epochs
    where topic_name = '__consumer_offsets'
    group by cluster_id, cluster_incarnation
),

-- The setting applies when the topic is created; a higher partition shows that it was created
-- differently.
offsets_topics as (
    select
        incarnations.cluster_id,
        incarnations.cluster_incarnation,
        cast(
            case
                when described.partitions >= coalesce(led.partitions, 0) then described.partitions
                when configured.partitions >= coalesce(led.partitions, 0) then configured.partitions
                when
                    led.partitions > 50
                    or coalesce(described.partitions, configured.partitions) is not null
                    then led.partitions
                else 50
            end
            as int
        ) as partitions,
        case
            when described.partitions >= coalesce(led.partitions, 0) then 'describe'
            when configured.partitions >= coalesce(led.partitions, 0) then 'setting'
            when
                led.partitions > 50
                or coalesce(described.partitions, configured.partitions) is not null
                then 'highest_seen'
            else 'default'
        end as partitions_known_by
    from incarnations
    left join described on incarnations.cluster_id = described.cluster_id
    left join configured on incarnations.cluster_id = configured.cluster_id
    left join led
        on
            incarnations.cluster_id = led.cluster_id
            and incarnations.cluster_incarnation = led.cluster_incarnation
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
