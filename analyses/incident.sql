select
    sequence,
    happened_at,
    role,
    sentence,
    nodes,
    fact_name,
    fact_rows,
    fact_key,
    incident_event_key
from {{ ref('fct_incident_events') }}
where {{ question_filter(key='incident_key') }}
order by happened_at, incident_key, sequence
