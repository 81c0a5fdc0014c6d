with daily as (
    select
        cluster_id,
        node_id,
        day_date,
        cast(365.2425 * year(day_date) + dayofyear(day_date) as double) as day_number,
        sum(bytes_at_end) as bytes_at_end
    from {{ ref('rpt_offsets_topic_daily') }}
    where {{ question_filter(node='node_id', start='cast(day_date as timestamp)') }}
    group by cluster_id, node_id, day_date
),

grown as (
    select
        cluster_id,
        node_id,
        count(*) as days_known,
        max(day_date) as last_date,
        max_by(bytes_at_end, day_date) as bytes_at_end,
        cast(regr_slope(cast(bytes_at_end as double), day_number) as bigint) as bytes_per_day
    from daily
    where bytes_at_end is not null
    group by cluster_id, node_id
),

disks as (
    select
        cluster_id,
        node_id,
        max_by(limit_value - value, sampled_at) as available_bytes
    from {{ ref('fct_resource_samples') }}
    where resource = 'disk_bytes'
    group by cluster_id, node_id, mounted_on
),

largest as (
    select
        cluster_id,
        node_id,
        max(available_bytes) as disk_available_bytes
    from disks
    group by cluster_id, node_id
)

select
    grown.cluster_id,
    grown.node_id,
    grown.days_known,
    grown.last_date,
    grown.bytes_at_end,
    grown.bytes_per_day,
    grown.bytes_at_end + 30 * grown.bytes_per_day as bytes_in_30_days,
    largest.disk_available_bytes,
    case
        when grown.bytes_per_day > 0 then largest.disk_available_bytes / grown.bytes_per_day
    end as days_until_disk_is_full
from grown
left join largest
    on grown.cluster_id = largest.cluster_id and grown.node_id = largest.node_id
order by grown.bytes_at_end desc, grown.cluster_id asc, grown.node_id asc
