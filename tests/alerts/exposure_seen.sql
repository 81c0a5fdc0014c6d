{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "Records show a known issue of the release that runs.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    first_seen_at as at,
    issue_exposure_key as key,
    'node ' || cast(node_id as string) || ' shows ' || sentence as sentence
from {{ ref('fct_issue_exposures') }}
where
    exposure = 'evidence_seen'
    and not is_suspect
    and {{ question_filter(start='first_seen_at') }}
