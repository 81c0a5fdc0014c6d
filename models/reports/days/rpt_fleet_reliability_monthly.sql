with clusters as (
    {{ of_all_clusters(ref('rpt_reliability_monthly')) }}
),

final as (
    select
        {{ row_key(['month_start_date']) }} as fleet_reliability_monthly_key,
        month_start_date,
        count(*) as clusters,
        count_if(error_budget_left_ms < 0) as clusters_over_budget,
        sum(days_known) as days_known,
        sum(days_unknown) as days_unknown,
        sum(observed_ms) as observed_ms,
        sum(partition_observed_ms) as partition_observed_ms,
        sum(leaderless_ms) as leaderless_ms,
        {{ availability('sum(leaderless_ms)', 'sum(partition_observed_ms)') }}
            as availability_ratio,
        sum(error_budget_ms) as error_budget_ms,
        sum(error_budget_left_ms) as error_budget_left_ms,
        sum(elections_unclean) as elections_unclean,
        sum(incidents) as incidents,
        sum(incidents_ended) as incidents_ended,
        cast(try_divide(sum(incident_ms), sum(incidents_ended)) as bigint)
            as mean_time_to_repair_ms,
        cast(try_divide(sum(observed_ms), sum(incidents)) as bigint)
            as mean_time_between_incidents_ms,
        sort_array(array_distinct(flatten(collect_list(repeat_causes)))) as repeat_causes
    from clusters
    group by month_start_date
)

select * from final
