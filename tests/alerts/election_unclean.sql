{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A replica that was not in sync was made leader - records may be lost.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    elected_at as at,
    leader_election_key as key,
    'node ' || cast(leader_id as string) || ' became leader of ' || topic_name || '-'
    || cast(partition_id as string)
    || ' unclean, at epoch '
    || cast(leader_epoch as string) as sentence
from {{ ref('fct_leader_elections') }}
where
    is_unclean
    and {{ question_filter(start='elected_at') }}
    and {{ outside_incidents('fct_leader_elections', 'leader_election_key', 'error') }}
