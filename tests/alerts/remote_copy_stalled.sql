{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "Segments of a partition could not be copied to remote storage, more than once.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    started_at as at,
    remote_copy_stall_key as key,
    topic_name || '-' || cast(partition_id as string) || ': ' || cast(failures as string)
    || ' copies to remote storage failed' as sentence
from {{ ref('fct_remote_copy_stalls') }}
where
    failures > 1
    and {{ question_filter(start='started_at') }}
    and {{ outside_incidents('fct_remote_copy_stalls', 'remote_copy_stall_key', 'warn') }}
