{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "An incident began, or went on, that did little harm (severity minor).",
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
    not is_maintenance
    and severity not in ('critical', 'major')
    and {{ began_or_went_on('incidents') }}
