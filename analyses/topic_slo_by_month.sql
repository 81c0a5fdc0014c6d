select
    month_start_date,
    cluster_id,
    topic_name,
    availability_ratio,
    slo_target,
    error_budget_left_ms,
    leaderless_ms,
    under_replicated_ms,
    elections_unclean,
    topic_reliability_monthly_key
from {{ ref('rpt_topic_reliability_monthly') }}
where {{ question_filter(topic='topic_name', start='cast(month_start_date as timestamp)') }}
order by availability_ratio asc, month_start_date asc, cluster_id asc, topic_name asc
