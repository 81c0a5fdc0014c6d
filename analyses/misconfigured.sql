select
    cluster_id,
    node_id,
    owner,
    rule_id,
    severity,
    settings,
    sentence,
    remedy,
    found_at,
    config_finding_key
from {{ ref('fct_config_findings') }}
where {{ question_filter(node='node_id', release='kafka_version') }}
order by
    case severity when 'outage' then 0 when 'data_loss' then 1 when 'degraded' then 2 else 3 end,
    cluster_id,
    rule_id,
    node_id,
    config_finding_key
