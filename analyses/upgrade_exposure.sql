select
    cluster_id,
    from_release,
    to_release,
    released_on,
    fixed_count,
    fixed_outages,
    newly_exposed_count,
    still_exposed_count,
    is_kraft_migration,
    fixed,
    newly_exposed,
    upgrade_exposure_key
from {{ ref('rpt_upgrade_exposure') }}
where
    is_latest_of_line
    and {{ question_filter(release='from_release') }}
order by cluster_id asc, from_release asc, released_on desc nulls last, to_release asc
