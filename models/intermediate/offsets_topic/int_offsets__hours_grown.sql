with hours as (
    select * from {{ ref('int_offsets__hours_filled') }}
),

followed as (
    select
        *,
        lag(hour_at) over (in_order) as previous_hour_at,
        lag(bytes_at_end) over (in_order) as previous_bytes,
        lag(last_measured_bytes) over (in_order) as previous_measured_bytes
    from hours
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id order by hour_at
    )
),

-- Measures are compared with the end of the hour before; where that is not measured, with the first of their own hour. What
-- came and went in hours that nobody recorded belongs to none of them.
measured as (
    select
        *,
        case
            when last_measured_bytes is null then null
            when
                previous_measured_bytes is not null
                and previous_hour_at = hour_at - interval 1 hour
                then last_measured_bytes - previous_measured_bytes
            when measures > 1 then last_measured_bytes - first_measured_bytes
        end as measured_growth
    from followed
),

grown as (
    select
        * except (previous_hour_at, previous_bytes, previous_measured_bytes),
        coalesce(
            measured_growth,
            case
                when previous_measured_bytes is null and last_measured_bytes is null
                    then bytes_at_end - previous_bytes
            end,
            bytes_turned_over
        ) as bytes_growth
    from measured
),

final as (
    select
        *,
        sum(bytes_growth) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by unix_seconds(hour_at)
            range between 82800 preceding and current row
        ) as growth_24h
    from grown
)

select * from final
