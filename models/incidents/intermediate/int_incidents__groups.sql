with members as (
    select * from {{ ref('int_incidents__members') }}
),

consumer_groups as (
    select * from {{ ref('dim_groups') }}
),

unserved as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        explode(partitions) as partition_name
    from members
    where event_kind in ('leaderless', 'load_unfinished')
),

-- A group hangs on its partition of the offsets topic, whether a line says that it hung or not.
hung as (
    select
        unserved.incident_key,
        consumer_groups.group_id
    from unserved
    inner join consumer_groups
        on
            unserved.cluster_id = consumer_groups.cluster_id
            and unserved.cluster_incarnation = consumer_groups.cluster_incarnation
            and unserved.partition_name
            = concat('__consumer_offsets-', consumer_groups.offsets_partition_id)
    union
    select
        incident_key,
        explode(group_ids) as group_id
    from members
),

final as (
    select
        incident_key,
        array_sort(collect_list(group_id)) as groups
    from hung
    group by incident_key
)

select * from final
