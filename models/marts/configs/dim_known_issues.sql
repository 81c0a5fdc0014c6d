with issues as (
    select * from {{ ref('known_issues') }}
),

ways as (
    select
        issue_id,
        count(*) as evidence_patterns
    from {{ ref('known_issue_evidence') }}
    group by issue_id
),

final as (
    select
        issues.issue_id,
        issues.title,
        issues.component,
        issues.cluster_mode,
        issues.symptom,
        issues.impact,
        issues.first_affected as affected_from,
        issues.last_affected as affected_until,
        split(issues.fixed_in, ',') as fixed_in,
        issues.fix_requires_setting,
        issues.confidence,
        issues.confidence = 'verified' as is_verified,
        issues.is_affected_from_inferred,
        issues.sources,
        cast(coalesce(ways.evidence_patterns, 0) as int) as evidence_patterns,
        coalesce(
            issues.confidence = 'verified'
            and issues.has_checked_strings
            and ways.evidence_patterns > 0,
            false
        ) as has_checked_evidence
    from issues
    left join ways on issues.issue_id = ways.issue_id
)

select * from final
