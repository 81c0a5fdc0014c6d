{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A log cleaner died, or gave up a partition, and the offsets topic grows without bound.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    stopped_at as at,
    log_cleaner_outage_key as key,
    'the log cleaner of ' || process_name || ' stopped'
    || coalesce(
        case when scope = 'partition' then ' for ' else ' while cleaning ' end
        || topic_name || '-' || cast(partition_id as string),
        ''
    )
    || ' (' || replace(found_by, '_', ' ') || ')' || coalesce(': ' || cause, '') as sentence
from {{ ref('fct_log_cleaner_outages') }}
where
    {{ question_filter(start='stopped_at') }}
    and {{ outside_incidents('fct_log_cleaner_outages', 'log_cleaner_outage_key', 'error') }}
