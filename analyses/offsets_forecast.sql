with daily as (
    select
        cluster_id,
        node_id,
        day_date,
        sum(bytes_at_end) as bytes_at_end,
        row_number() over (partition by cluster_id, node_id order by day_date desc) as days_ago
    from {{ ref('rpt_offsets_topic_daily') }}
    where
        bytes_at_end is not null
        and {{ question_filter(node='node_id', start='cast(day_date as timestamp)') }}
    group by cluster_id, node_id, day_date
),

grown as (
    select
        cluster_id,
        node_id,
        count(*) as days_known,
        max(day_date) as last_date,
        max(bytes_at_end) filter (where days_ago = 1) as bytes_at_end,
        cast(
            round(
                regr_slope(
                    cast(bytes_at_end as double),
                    cast(
                        extract(
                            day from cast(day_date as timestamp) - timestamp '2000-01-01 00:00:00'
                        ) as double
                    )
                )
            ) as bigint
        ) as bytes_per_day
    from daily
    group by cluster_id, node_id
),

sampled as (
    select
        cluster_id,
        node_id,
        limit_value - value as available_bytes,
        row_number() over (
            partition by cluster_id, node_id, mounted_on order by sampled_at desc
        ) as samples_ago
    from {{ ref('fct_resource_samples') }}
    where resource = 'disk_bytes'
),

disks as (
    select
        cluster_id,
        node_id,
        max(available_bytes) as disk_available_bytes
    from sampled
    where samples_ago = 1
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
    disks.disk_available_bytes,
    case
        when grown.bytes_per_day > 0
            then cast(disks.disk_available_bytes as double) / grown.bytes_per_day
    end as days_until_disk_is_full
from grown
left join disks
    on grown.cluster_id = disks.cluster_id and grown.node_id = disks.node_id
order by grown.bytes_at_end desc, grown.cluster_id asc, grown.node_id asc
