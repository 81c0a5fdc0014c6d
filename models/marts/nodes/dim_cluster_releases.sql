with releases as (
    select * from {{ ref('int_nodes__releases') }}
    where kafka_version is not null
),

runs as (
    select * from {{ ref('int_nodes__runs_ended') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- When the next run of the node begins, of any release.
followed as (
    select
        *,
        lead(coalesce(started_at, first_seen_at)) over (
            partition by cluster_id, cluster_incarnation, node_id order by run_number
        ) as next_run_at
    from runs
),

-- A node counts until it runs again, since it stays what it is while it is down, or until its last end. Of one that never says that it ends
-- nobody knows whether it still runs, if the others have gone on for a day.
lasting as (
    select
        releases.cluster_id,
        followed.cluster_incarnation,
        releases.kafka_version,
        releases.release_numbers,
        releases.release_known_from as began_at,
        coalesce(
            followed.next_run_at,
            followed.stopped_at,
            if(
                observed.last_seen_at > followed.last_seen_at + interval 1 day,
                followed.last_seen_at,
                null
            )
        ) as ended_at
    from releases
    inner join followed using (cluster_id, node_id, run_number)
    inner join observed
        on
            followed.cluster_id = observed.cluster_id
            and followed.cluster_incarnation = observed.cluster_incarnation
),

changes as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        began_at as changed_at,
        1 as nodes
    from lasting
    where coalesce(ended_at > began_at, true)
    union all
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        ended_at as changed_at,
        -1 as nodes
    from lasting
    where ended_at > began_at
),

at_once as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        changed_at,
        sum(nodes) as nodes
    from changes
    group by cluster_id, cluster_incarnation, kafka_version, release_numbers, changed_at
),

counted as (
    select
        *,
        sum(nodes) over (
            partition by cluster_id, cluster_incarnation, kafka_version
            order by changed_at
            rows between unbounded preceding and current row
        ) > 0 as is_running
    from at_once
),

compared as (
    select
        *,
        lag(is_running) over (
            partition by cluster_id, cluster_incarnation, kafka_version order by changed_at
        ) as was_running
    from counted
),

-- When the first node of a release begins, and the last one ends.
turns as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        changed_at,
        is_running
    from compared
    where is_running <> coalesce(was_running, false)
),

times as (
    select
        cluster_id,
        cluster_incarnation,
        changed_at
    from turns
    group by cluster_id, cluster_incarnation, changed_at
),

versions as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers
    from turns
    group by cluster_id, cluster_incarnation, kafka_version, release_numbers
),

-- Whether each release of the cluster runs, at each of these times.
held as (
    select
        times.cluster_id,
        times.cluster_incarnation,
        times.changed_at,
        versions.kafka_version,
        versions.release_numbers,
        last_value(turns.is_running, true) over (
            partition by
                times.cluster_id, times.cluster_incarnation, versions.kafka_version
            order by times.changed_at
            rows between unbounded preceding and current row
        ) as is_running
    from times
    inner join versions
        on
            times.cluster_id = versions.cluster_id
            and times.cluster_incarnation = versions.cluster_incarnation
    left join turns
        on
            times.cluster_id = turns.cluster_id
            and times.cluster_incarnation = turns.cluster_incarnation
            and times.changed_at = turns.changed_at
            and versions.kafka_version = turns.kafka_version
),

-- While no node runs, the cluster stays what it was.
states as (
    select
        cluster_id,
        cluster_incarnation,
        changed_at,
        sort_array(collect_set(struct(release_numbers, kafka_version))) as running
    from held
    where is_running
    group by cluster_id, cluster_incarnation, changed_at
),

states_compared as (
    select
        *,
        lag(running) over (
            partition by cluster_id, cluster_incarnation order by changed_at
        ) as previous
    from states
),

bounded as (
    select
        changed.cluster_id,
        changed.cluster_incarnation,
        transform(changed.running, one -> one.kafka_version) as kafka_versions,
        greatest(changed.changed_at, incarnations.valid_from) as valid_from,
        least(
            lead(changed.changed_at) over (
                partition by changed.cluster_id, changed.cluster_incarnation
                order by changed.changed_at
            ),
            nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00')
        ) as valid_to
    from states_compared as changed
    inner join incarnations using (cluster_id, cluster_incarnation)
    where changed.previous is null or changed.previous <> changed.running
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'valid_from']) }} as cluster_release_key,
        {{ row_key(['cluster_id', 'cluster_incarnation']) }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        valid_from,
        valid_to,
        valid_to is null as is_current,
        element_at(kafka_versions, -1) as kafka_version,
        kafka_versions[0] as lowest_kafka_version,
        kafka_versions,
        size(kafka_versions) > 1 as is_mixed
    from bounded
    where coalesce(valid_to > valid_from, true)
)

select * from final
