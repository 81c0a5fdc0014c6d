with settings as (
    select * from {{ ref('stg_logs__offsets_settings') }}
),

topics as (
    select * from {{ ref('stg_captures__topics') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

described as (
    select
        cluster_id,
        max_by(partition_count, struct(captured_at, source_path, byte_offset)) as partitions
    from topics
    where topic_name = '__consumer_offsets' and partition_count is not null
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

-- The setting counts when the topic is made; a partition beyond it shows that it was made otherwise.
final as (
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
)

select * from final
