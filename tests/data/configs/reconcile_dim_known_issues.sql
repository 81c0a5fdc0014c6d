-- Each issue of the seed is one row with the same number of fixed releases, and no other is.
with source_rows as (
    select
        issue_id,
        coalesce(length(fixed_in) - length(replace(fixed_in, ',', '')) + 1, 0) as fixed_releases
    from {{ ref('known_issues') }}
),

mart_rows as (
    select
        issue_id,
        coalesce(size(fixed_in), 0) as fixed_releases
    from {{ ref('dim_known_issues') }}
),

final as (
    select
        source_rows.issue_id as expected_issue_id,
        mart_rows.issue_id as found_issue_id
    from source_rows
    full outer join mart_rows on source_rows.issue_id = mart_rows.issue_id
    where not source_rows.fixed_releases <=> mart_rows.fixed_releases
)

select * from final
