select
    cast(date_trunc('quarter', started_at) as date) as quarter_start_date,
    root_cause_kind,
    severity,
    count(*) as incidents,
    count(*) filter (where is_open) as still_open,
    cast(avg(duration_ms) as bigint) as mean_ms,
    max(duration_ms) as longest_ms
from {{ ref('fct_incidents') }}
where
    not is_maintenance
    and {{ question_filter(start='started_at', end='ended_at') }}
group by cast(date_trunc('quarter', started_at) as date), root_cause_kind, severity
order by quarter_start_date, root_cause_kind, severity
