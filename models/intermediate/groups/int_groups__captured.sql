with group_offsets as (
    select * from {{ ref('stg_captures__group_offsets') }}
),

captured_groups as (
    select * from {{ ref('stg_captures__groups') }}
),

samples as (
    select * from {{ ref('stg_metrics__group_samples') }}
),

final as (
    select
        cluster_id,
        captured_at as seen_at,
        source_path,
        byte_offset,
        group_id,
        cast(null as int) as coordinator_id,
        cast(null as int) as members,
        cast(null as string) as group_state,
        case
            when source_kind = 'kafka_consumer_offset_checker' then 'zookeeper_consumer'
            when member_id like '%-StreamThread-%' then 'streams'
        end as group_kind
    from group_offsets
    union all
    select
        cluster_id,
        captured_at as seen_at,
        source_path,
        byte_offset,
        group_id,
        coordinator_id,
        members,
        state as group_state,
        case
            when member_id like '%-StreamThread-%' then 'streams'
            when lower(group_type) in ('classic', 'consumer', 'share', 'streams')
                then lower(group_type)
        end as group_kind
    from captured_groups
    where group_id is not null
    union all
    select
        cluster_id,
        sampled_at as seen_at,
        source_path,
        byte_offset,
        group_id,
        coordinator_id,
        case when metric = 'consumer_group_members' then try_cast(value as int) end as members,
        state as group_state,
        case
            when protocol = 'connect' then 'connect'
            when metric = 'consumer_group_lag_zookeeper' then 'zookeeper_consumer'
        end as group_kind
    from samples
    where group_id is not null
)

select * from final
