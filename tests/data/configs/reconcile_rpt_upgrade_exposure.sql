-- In each step the issues before, minus the fixed ones, plus the new ones, are the issues after;
-- and there is a step to each later release.
with report as (
    select * from {{ ref('rpt_upgrade_exposure') }}
),

upgrades as (
    select * from {{ ref('int_issues__upgrades') }}
),

final as (
    select
        upgrades.cluster_id,
        upgrades.from_release,
        upgrades.to_release,
        size(upgrades.to_issues) as expected_issues,
        report.still_exposed_count + report.newly_exposed_count as found_issues
    from upgrades
    full outer join report
        on
            upgrades.cluster_id = report.cluster_id
            and upgrades.from_release = report.from_release
            and upgrades.to_release = report.to_release
    where
        not cast(size(upgrades.to_issues) as bigint)
        <=> report.still_exposed_count + report.newly_exposed_count
        or not cast(size(upgrades.from_issues) as bigint)
        <=> report.still_exposed_count + report.fixed_count
)

select * from final
