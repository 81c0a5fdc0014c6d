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
    and (
        ({{ question_filter(start='started_at') }})
        or exists (
            select 1
            from {{ ref('fct_incident_events') }} as parts
            where
                parts.incident_key = incidents.incident_key
                and parts.role <> 'recovery'
                and {{ question_filter(cluster='parts.cluster_id', start='parts.happened_at') }}
        )
    )
