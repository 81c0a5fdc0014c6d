with node_releases as (
    select * from {{ ref('int_nodes__releases') }}
),

affected as (
    select * from {{ ref('int_issues__affected_releases') }}
),

releases as (
    select * from {{ ref('kafka_releases') }}
),

issues as (
    select * from {{ ref('known_issues') }}
),

last_runs as (
    {{ latest_per('node_releases', ['cluster_id', 'node_id'], 'run_number desc') }}
),

running as (
    select
        cluster_id,
        kafka_version as from_release,
        release_numbers as from_numbers,
        -- While a cluster migrates, some of its nodes are in KRaft mode already.
        if(count_if(cluster_mode = 'kraft') > 0, 'kraft', 'zookeeper') as cluster_mode,
        sort_array(collect_set(node_id)) as nodes
    from last_runs
    where kafka_version is not null and element_at(release_numbers, 1) is not null
    group by cluster_id, kafka_version, release_numbers
),

release_issues as (
    select
        affected.kafka_version,
        affected.cluster_mode,
        collect_set(struct(affected.issue_id, issues.impact)) as issues
    from affected
    inner join issues on affected.issue_id = issues.issue_id
    where affected.component <> 'client'
    group by affected.kafka_version, affected.cluster_mode
),

-- The issues of a release in the mode in which it runs.
by_mode as (
    select
        release_issues.kafka_version,
        modes.cluster_mode,
        flatten(collect_list(release_issues.issues)) as issues
    from release_issues
    inner join (values ('zookeeper'), ('kraft')) as modes (cluster_mode)
        on coalesce(release_issues.cluster_mode = modes.cluster_mode, true)
    group by release_issues.kafka_version, modes.cluster_mode
),

-- A few releases of each cluster, each with all later ones.
steps as (
    select
        running.cluster_id,
        running.from_release,
        running.nodes,
        running.cluster_mode as from_mode,
        if(
            {{ release_numbers('releases.kafka_version') }} >= array(4),
            'kraft',
            running.cluster_mode
        ) as to_mode,
        releases.kafka_version as to_release,
        releases.released_on,
        releases.order_number = max(releases.order_number) over (
            partition by running.cluster_id, running.from_release, releases.release_line
        ) as is_latest_of_line
    from running
    inner join releases
        on {{ release_numbers('releases.kafka_version') }} > running.from_numbers
),

final as (
    select
        steps.*,
        coalesce(from_issues.issues, array()) as from_issues,
        coalesce(to_issues.issues, array()) as to_issues
    from steps
    left join by_mode as from_issues
        on
            steps.from_release = from_issues.kafka_version
            and steps.from_mode = from_issues.cluster_mode
    left join by_mode as to_issues
        on steps.to_release = to_issues.kafka_version and steps.to_mode = to_issues.cluster_mode
)

select * from final
