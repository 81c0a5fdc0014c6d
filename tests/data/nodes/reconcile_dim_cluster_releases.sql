-- Each run that prints its release does so in a stretch of its cluster that has the release, and no stretch has a release that no run prints.
with releases as (
    select * from {{ ref('dim_cluster_releases') }}
),

runs as (
    select
        *,
        coalesce(started_at, first_seen_at) as run_at
    from {{ ref('dim_node_runs') }}
    where kafka_version is not null
),

missing as (
    select
        runs.cluster_id,
        runs.run_at as found_at,
        runs.kafka_version
    from runs
    left join releases
        on
            runs.cluster_id = releases.cluster_id
            and runs.cluster_incarnation = releases.cluster_incarnation
            and runs.run_at < coalesce(releases.valid_to, timestamp '9999-01-01 00:00:00')
            and coalesce(runs.stopped_at, timestamp '9999-01-01 00:00:00') > releases.valid_from
            and array_contains(releases.kafka_versions, runs.kafka_version)
    where releases.cluster_id is null and coalesce(runs.stopped_at > runs.run_at, true)
),

listed as (
    select
        cluster_id,
        valid_from as found_at,
        explode(kafka_versions) as kafka_version
    from releases
),

invented as (
    select listed.*
    from listed
    left anti join runs using (cluster_id, kafka_version)
),

final as (
    select * from missing
    union all
    select * from invented
)

select * from final
