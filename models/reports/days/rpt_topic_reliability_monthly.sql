with lives as (
    select * from {{ ref('int_days__partition_lives') }}
    where observed_until > observed_from
),

days as (
    select * from {{ ref('rpt_cluster_daily') }}
),

troubled_days as (
    select * from {{ ref('fct_partition_daily') }}
),

clusters as (
    select
        cluster_id,
        max(slo_target) as slo_target
    from {{ ref('dim_clusters') }}
    group by cluster_id
),

gaps as (
    select
        cluster_id,
        cast(date_trunc('month', event_date) as date) as month_start_date,
        collect_list(event_date) as unknown_days
    from days
    where evidence_state = 'unknown'
    group by cluster_id, cast(date_trunc('month', event_date) as date)
),

-- Most partitions of a topic are there from the same time to the same time.
alike as (
    select
        cluster_id,
        topic_name,
        topic_key,
        observed_from,
        observed_until,
        count(*) as partitions
    from lives
    group by cluster_id, topic_name, topic_key, observed_from, observed_until
),

by_month as (
    select
        *,
        explode(
            sequence(
                cast(date_trunc('month', observed_from) as date),
                cast(date_trunc('month', observed_until - interval 1 microsecond) as date),
                interval 1 month
            )
        ) as month_start_date
    from alike
),

within_month as (
    select
        by_month.*,
        coalesce(gaps.unknown_days, array()) as unknown_days,
        unix_millis(greatest(by_month.observed_from, cast(by_month.month_start_date as timestamp)))
            as from_ms,
        unix_millis(
            least(
                by_month.observed_until,
                cast(add_months(by_month.month_start_date, 1) as timestamp)
            )
        ) as until_ms
    from by_month
    left join gaps using (cluster_id, month_start_date)
),

observed as (
    select
        cluster_id,
        topic_name,
        month_start_date,
        max_by(topic_key, struct(observed_from, topic_key)) as topic_key,
        sum(
            partitions
            * (
                until_ms
                - from_ms
                - aggregate(
                    unknown_days,
                    cast(0 as bigint),
                    (total, unknown_day) -> total + greatest(
                        0,
                        least(until_ms, unix_millis(cast(date_add(unknown_day, 1) as timestamp)))
                        - greatest(from_ms, unix_millis(cast(unknown_day as timestamp)))
                    )
                )
            )
        ) as partition_observed_ms
    from within_month
    group by cluster_id, topic_name, month_start_date
),

troubled as (
    select
        cluster_id,
        topic_name,
        cast(date_trunc('month', event_date) as date) as month_start_date,
        sum(leaderless_ms) as leaderless_ms,
        sum(under_replicated_ms) as under_replicated_ms,
        sum(elections_leader_lost) as elections_leader_lost,
        sum(elections_unclean) as elections_unclean
    from troubled_days
    group by cluster_id, topic_name, cast(date_trunc('month', event_date) as date)
),

joined as (
    select
        observed.*,
        clusters.slo_target,
        coalesce(troubled.leaderless_ms, 0) as leaderless_ms,
        coalesce(troubled.under_replicated_ms, 0) as under_replicated_ms,
        coalesce(troubled.elections_leader_lost, 0) as elections_leader_lost,
        coalesce(troubled.elections_unclean, 0) as elections_unclean
    from observed
    left join clusters using (cluster_id)
    left join troubled using (cluster_id, topic_name, month_start_date)
    where observed.partition_observed_ms > 0
),

final as (
    select
        {{ row_key(['cluster_id', 'topic_name', 'month_start_date']) }}
            as topic_reliability_monthly_key,
        topic_key,
        cluster_id,
        topic_name,
        month_start_date,
        partition_observed_ms,
        leaderless_ms,
        {{ availability('leaderless_ms', 'partition_observed_ms') }} as availability_ratio,
        slo_target,
        {{ error_budget_ms() }} as error_budget_ms,
        {{ error_budget_ms() }} - leaderless_ms as error_budget_left_ms,
        under_replicated_ms,
        elections_leader_lost,
        elections_unclean
    from joined
)

select * from final
