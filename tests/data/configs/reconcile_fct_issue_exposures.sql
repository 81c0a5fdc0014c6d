-- For each run that prints its release: the issues of the seed whose affected range contains that
-- release, by the order of the releases. The model compares numbers and lines of fixes instead.
with runs as (
    select * from {{ ref('int_nodes__releases') }}
),

releases as (
    select * from {{ ref('kafka_releases') }}
),

issues as (
    select * from {{ ref('known_issues') }}
),

mart_rows as (
    select * from {{ ref('fct_issue_exposures') }}
),

-- Ranges are contiguous only if the fault came and went in one line; otherwise the lines before
-- the highest have other releases inside.
ranges as (
    select
        issues.issue_id,
        issues.cluster_mode,
        coalesce(first_release.order_number, 0) as first_number,
        last_release.order_number as last_number
    from issues
    left join releases as first_release on issues.first_affected = first_release.kafka_version
    inner join releases as last_release on issues.last_affected = last_release.kafka_version
    where
        issues.component <> 'client'
        and locate(',', concat_ws(' ', issues.first_affected, issues.fixed_in)) = 0
),

expected as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number,
        count(*) as issues
    from runs
    inner join releases on runs.kafka_version = releases.kafka_version
    inner join ranges
        on
            releases.order_number >= ranges.first_number
            and releases.order_number <= ranges.last_number
            and coalesce(runs.cluster_mode = ranges.cluster_mode, true)
    group by runs.cluster_id, runs.node_id, runs.run_number
),

found as (
    select
        mart_rows.cluster_id,
        mart_rows.node_id,
        mart_rows.run_number,
        count(*) as issues
    from mart_rows
    inner join ranges on mart_rows.issue_id = ranges.issue_id
    inner join releases on mart_rows.kafka_version = releases.kafka_version
    group by mart_rows.cluster_id, mart_rows.node_id, mart_rows.run_number
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        coalesce(expected.node_id, found.node_id) as node_id,
        expected.issues as expected_issues,
        found.issues as found_issues
    from expected
    full outer join found
        on
            expected.cluster_id = found.cluster_id
            and expected.node_id = found.node_id
            and expected.run_number = found.run_number
    where not expected.issues <=> found.issues
)

select * from final
