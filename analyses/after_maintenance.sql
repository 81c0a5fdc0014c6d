select
    incidents.cluster_id,
    incidents.started_at,
    incidents.severity,
    incidents.summary,
    maintenances.started_at as maintenance_started_at,
    maintenances.ended_at as maintenance_ended_at,
    incidents.incident_key,
    maintenances.incident_key as maintenance_key
from {{ ref('fct_incidents') }} as incidents
inner join {{ ref('fct_incidents') }} as maintenances
    on
        incidents.cluster_id = maintenances.cluster_id
        and not incidents.is_maintenance
        and maintenances.is_maintenance
        and incidents.started_at >= maintenances.started_at
        and (
            maintenances.ended_at is null
            or incidents.started_at <= maintenances.ended_at + interval '1 hour'
        )
where {{ question_filter(cluster='incidents.cluster_id', start='incidents.started_at') }}
order by incidents.started_at, incidents.incident_key, maintenances.incident_key
