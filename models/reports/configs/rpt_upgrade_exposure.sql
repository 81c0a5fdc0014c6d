with upgrades as (
    select * from {{ ref('int_issues__upgrades') }}
),

last_incarnations as (
    select
        cluster_id,
        max(cluster_incarnation) as cluster_incarnation
    from {{ ref('int_clusters__incarnations') }}
    group by cluster_id
),

compared as (
    select
        *,
        sort_array(array_except(from_issues, to_issues)) as fixed_issues,
        sort_array(array_except(to_issues, from_issues)) as new_issues
    from upgrades
),

final as (
    select
        {{ row_key(['cluster_id', 'from_release', 'to_release']) }} as upgrade_exposure_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        from_release,
        nodes,
        to_release,
        released_on,
        is_latest_of_line,
        transform(fixed_issues, issue -> issue.issue_id) as fixed,
        cast(size(fixed_issues) as bigint) as fixed_count,
        cast(
            size(filter(fixed_issues, issue -> issue.impact in ('outage', 'data_loss'))) as bigint
        ) as fixed_outages,
        transform(new_issues, issue -> issue.issue_id) as newly_exposed,
        cast(size(new_issues) as bigint) as newly_exposed_count,
        cast(size(array_intersect(from_issues, to_issues)) as bigint) as still_exposed_count,
        from_mode <> to_mode as is_kraft_migration
    from compared
    left join last_incarnations using (cluster_id)
)

select * from final
