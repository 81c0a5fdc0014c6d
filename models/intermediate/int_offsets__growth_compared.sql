with hours as (
    select * from {{ ref('int_offsets__hours_filled') }}
),

-- What came in as full segments, less what was deleted and what cleaning took away.
measured as (
    select
        *,
        segments_rolled * segment_bytes - bytes_deleted - bytes_cleaned as bytes_growth
    from hours
),

totalled as (
    select
        *,
        sum(segments_rolled * segment_bytes - bytes_deleted - bytes_cleaned)
            over (day_back)
            as growth_24h
    from measured
    window day_back as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id
        order by hour_at
        rows between 23 preceding and current row
    )
),

final as (
    select
        totalled.*,
        percentile_approx(growth_24h, 0.5) over (
            partition by cluster_id, cluster_incarnation, node_id, hour_at
        ) as median_growth_24h,
        count(*) over (partition by cluster_id, cluster_incarnation, node_id, hour_at) as siblings
    from totalled
)

select * from final
