{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "An incident or a maintenance began, or went on, that took leaders away, put records at risk or stopped a node (severity critical or major).",
        "ask": "chronicle ask incident {key}"
    }
) }}

select
    cluster_id,
    started_at as at,
    incident_key as key,
    severity || ' incident: ' || summary as sentence
from {{ ref('fct_incidents') }} as incidents
where
    severity in ('critical', 'major')
    and {{ began_or_went_on('incidents') }}
