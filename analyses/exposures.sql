with exposed as (
    select
        cluster_id,
        kafka_version,
        issue_id,
        impact,
        is_suspect,
        array_sort(array_agg(distinct node_id)) as nodes,
        case
            when count(*) filter (where exposure = 'evidence_seen') > 0
                then array_sort(
                    array_agg(distinct node_id) filter (where exposure = 'evidence_seen')
                )
        end as seen_on,
        min(first_seen_at) filter (where exposure = 'evidence_seen') as seen_first_at
    from {{ ref('fct_issue_exposures') }}
    where {{ question_filter(node='node_id', release='kafka_version') }}
    group by cluster_id, kafka_version, issue_id, impact, is_suspect
)

select
    exposed.cluster_id,
    exposed.kafka_version,
    exposed.issue_id,
    exposed.impact,
    exposed.seen_on,
    exposed.seen_first_at,
    exposed.nodes,
    issues.title,
    issues.fixed_in,
    exposed.is_suspect
from exposed
left join {{ ref('dim_known_issues') }} as issues
    on exposed.issue_id = issues.issue_id
order by
    case when exposed.seen_first_at is null then 1 else 0 end,
    exposed.is_suspect,
    case exposed.impact
        when 'outage' then 0 when 'data_loss' then 1 when 'degraded' then 2 else 3
    end,
    exposed.cluster_id,
    exposed.kafka_version,
    exposed.issue_id
