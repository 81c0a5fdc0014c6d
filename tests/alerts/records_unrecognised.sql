{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "On a past day with at least 1000 records of a cluster, less than alert_recognised_ratio of them were recognised.",
        "ask": "chronicle ask unrecognised-shapes --cluster {cluster_id}"
    }
) }}

with days as (
    select
        cluster_id,
        cast(event_date as timestamp) + interval '1 day' as over_at,
        event_date,
        sum(records) as records,
        sum(recognised) as recognised
    from {{ ref('fct_parse_coverage_daily') }}
    where event_date > date '1970-01-01'
    group by cluster_id, event_date
)

select
    cluster_id,
    over_at as at,
    cluster_id || ' ' || cast(event_date as string) as key,
    cast(records - recognised as string) || ' of ' || cast(records as string) || ' records of '
    || cast(event_date as string) || ' were not recognised' as sentence
from days
where
    records >= 1000
    and recognised < {{ var("alert_recognised_ratio") }} * records
    and over_at <= now()
    and {{ question_filter(start='over_at') }}
