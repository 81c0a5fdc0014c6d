select
    sequence,
    happened_at,
    role,
    said,
    nodes,
    fact_name,
    fact_rows,
    fact_key,
    incident_event_key
from {{ ref('fct_incident_events') }}
where {{ given(key='incident_key') }}
order by happened_at, incident_key, sequence
