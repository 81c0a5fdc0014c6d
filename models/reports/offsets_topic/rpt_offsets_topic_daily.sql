with hours as (
    select * from {{ ref('fct_offsets_topic_growth_hourly') }}
),

outages as (
    select * from {{ ref('fct_log_cleaner_outages') }}
    where scope <> 'partition' or topic_name = '__consumer_offsets'
),

coordinator_loads as (
    select * from {{ ref('fct_coordinator_loads') }}
    where topic_name = '__consumer_offsets'
),

-- Each hour's share of the outages that overlap it, at most the whole hour; an outage without an
-- end continues.
stopped as (
    select
        hours.offsets_topic_growth_hourly_key,
        least(
            3600000,
            sum(
                least(
                    coalesce(unix_millis(outages.resumed_at), unix_millis(hours.hour_at) + 3600000),
                    unix_millis(hours.hour_at) + 3600000
                )
                - greatest(unix_millis(outages.stopped_at), unix_millis(hours.hour_at))
            )
        ) as outage_ms
    from hours
    inner join outages
        on
            hours.cluster_id = outages.cluster_id
            and hours.cluster_incarnation = outages.cluster_incarnation
            and hours.node_id = outages.node_id
            and (outages.scope <> 'partition' or hours.partition_id = outages.partition_id)
            and hours.hour_at + interval 1 hour > outages.stopped_at
            and coalesce(hours.hour_at < outages.resumed_at, true)
    group by hours.offsets_topic_growth_hourly_key
),

days as (
    select
        hours.cluster_id,
        hours.cluster_incarnation,
        hours.node_id,
        max(hours.topic_name) as topic_name,
        max(hours.topic_incarnation) as topic_incarnation,
        hours.partition_id,
        hours.hour_date as day_date,
        cast(count(*) as int) as hours_known,
        sum(hours.bytes_growth) as bytes_growth,
        max_by(hours.bytes_at_end, hours.hour_at) as bytes_at_end,
        sum(hours.cleaner_runs) as cleaner_runs,
        sum(hours.failed_tombstones) as failed_tombstones,
        cast(count_if(hours.is_abnormal) as int) as abnormal_hours,
        coalesce(sum(stopped.outage_ms), 0) as cleaner_outage_ms
    from hours
    left join stopped using (offsets_topic_growth_hourly_key)
    group by
        hours.cluster_id,
        hours.cluster_incarnation,
        hours.node_id,
        hours.partition_id,
        hours.hour_date
),

loads as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        started_date as day_date,
        cast(count_if(is_unfinished) as int) as unfinished_loads
    from coordinator_loads
    group by cluster_id, cluster_incarnation, node_id, partition_id, started_date
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id', 'day_date']) }}
            as offsets_topic_daily_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        days.*,
        coalesce(loads.unfinished_loads, 0) as unfinished_loads
    from days
    left join loads using (cluster_id, cluster_incarnation, node_id, partition_id, day_date)
)

select * from final
