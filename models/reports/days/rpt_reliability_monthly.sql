with days as (
    select * from {{ ref('rpt_cluster_daily') }}
),

incidents as (
    select * from {{ ref('fct_incidents') }}
    where not is_maintenance
),

clusters as (
    select
        cluster_id,
        max(slo_target) as slo_target
    from {{ ref('dim_clusters') }}
    group by cluster_id
),

observed as (
    select
        cluster_id,
        cast(date_trunc('month', event_date) as date) as month_start_date,
        count_if(evidence_state = 'known') as days_known,
        count_if(evidence_state = 'unknown') as days_unknown,
        sum(observed_ms) as observed_ms,
        sum(partition_observed_ms) as partition_observed_ms,
        sum(leaderless_ms) as leaderless_ms,
        sum(elections_unclean) as elections_unclean
    from days
    group by cluster_id, cast(date_trunc('month', event_date) as date)
),

caused as (
    select
        cluster_id,
        cast(date_trunc('month', started_at) as date) as month_start_date,
        root_cause_kind,
        count(*) as incidents,
        count(duration_ms) as incidents_ended,
        sum(duration_ms) as incident_ms
    from incidents
    group by cluster_id, cast(date_trunc('month', started_at) as date), root_cause_kind
),

troubled as (
    select
        cluster_id,
        month_start_date,
        sum(incidents) as incidents,
        sum(incidents_ended) as incidents_ended,
        sum(incident_ms) as incident_ms,
        sort_array(collect_list(root_cause_kind) filter (where incidents > 1)) as repeat_causes
    from caused
    group by cluster_id, month_start_date
),

-- A month without evidence has no number of incidents, not none.
joined as (
    select
        observed.*,
        clusters.slo_target,
        if(observed.days_known > 0, coalesce(troubled.incidents, 0), null) as incidents,
        if(observed.days_known > 0, coalesce(troubled.incidents_ended, 0), null) as incidents_ended,
        troubled.incident_ms,
        coalesce(troubled.repeat_causes, array()) as repeat_causes
    from observed
    left join clusters using (cluster_id)
    left join troubled using (cluster_id, month_start_date)
),

final as (
    select
        {{ row_key(['cluster_id', 'month_start_date']) }} as reliability_monthly_key,
        cluster_id,
        month_start_date,
        days_known,
        days_unknown,
        observed_ms,
        partition_observed_ms,
        leaderless_ms,
        {{ availability('leaderless_ms', 'partition_observed_ms') }} as availability_ratio,
        slo_target,
        {{ error_budget_ms() }} as error_budget_ms,
        {{ error_budget_ms() }} - leaderless_ms as error_budget_left_ms,
        elections_unclean,
        incidents,
        incidents_ended,
        incident_ms,
        cast(try_divide(incident_ms, incidents_ended) as bigint) as mean_time_to_repair_ms,
        cast(try_divide(observed_ms, incidents) as bigint) as mean_time_between_incidents_ms,
        repeat_causes
    from joined
)

select * from final
