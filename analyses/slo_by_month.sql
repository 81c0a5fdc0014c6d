select
    month_start_date,
    cluster_id,
    availability_ratio,
    slo_target,
    error_budget_left_ms,
    incidents,
    mean_time_to_repair_ms,
    mean_time_between_incidents_ms,
    repeat_causes,
    days_unknown,
    reliability_monthly_key
from {{ ref('rpt_reliability_monthly') }}
where {{ question_filter(start='cast(month_start_date as timestamp)') }}
order by month_start_date, cluster_id
