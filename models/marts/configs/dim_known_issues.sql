with issues as (
    select * from {{ ref('known_issues') }}
),

ways as (
    select
        issue_id,
        count(*) as ways_to_show
    from {{ ref('known_issue_evidence') }}
    group by issue_id
),

final as (
    select
        issues.issue_id,
        issues.title,
        issues.component,
        issues.mode,
        issues.symptom,
        issues.severity,
        issues.first_affected as affected_from,
        issues.last_affected as affected_until,
        split(issues.fixed_in, ',') as fixed_in,
        issues.fix_needs,
        issues.confidence,
        issues.confidence = 'verified' as is_verified,
        issues.is_first_inferred,
        cast(coalesce(ways.ways_to_show, 0) as int) as ways_to_show,
        coalesce(
            issues.confidence = 'verified' and issues.has_checked_strings and ways.ways_to_show > 0,
            false
        ) as has_checked_evidence
    from issues
    left join ways on issues.issue_id = ways.issue_id
)

select * from final
