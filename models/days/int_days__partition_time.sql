with lives as (
    select * from {{ ref('int_days__partition_lives') }}
),

-- One partition more from its first record on, one less from its end on.
turns as (
    select
        cluster_id,
        stack(
            2,
            observed_from, 1, 1,
            observed_until, -1, if(ended_at is null, 0, -1)
        ) as (turned_at, change, change_of_existing)
    from lives
),

final as (
    select
        cluster_id,
        cast(turned_at as date) as event_date,
        sum(change) as change,
        sum(change_of_existing) as change_of_existing,
        sum(
            change
            * (
                unix_millis(cast(date_add(cast(turned_at as date), 1) as timestamp))
                - unix_millis(turned_at)
            )
        ) as change_ms
    from turns
    group by cluster_id, cast(turned_at as date)
)

select * from final
