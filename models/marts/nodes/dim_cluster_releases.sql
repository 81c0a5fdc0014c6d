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

-- As one array, since Spark plans whatever a union reads once for each of its parts.
changes as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        explode(
            if(
                ended_at > began_at,
                array(
                    struct(began_at as changed_at, 1 as nodes),
                    struct(ended_at as changed_at, -1 as nodes)
                ),
                array(struct(began_at as changed_at, 1 as nodes))
            )
        ) as change
    from lasting
    where coalesce(ended_at > began_at, true)
),

at_once as (
    select
        cluster_id,
        cluster_incarnation,
        kafka_version,
        release_numbers,
        change.changed_at,
        sum(change.nodes) as nodes
    from changes
    group by cluster_id, cluster_incarnation, kafka_version, release_numbers, change.changed_at
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

-- All turns up to each of these times, in order.
turned as (
    select
        cluster_id,
        cluster_incarnation,
        changed_at,
        flatten(
            collect_list(array_agg(struct(release_numbers, kafka_version, is_running))) over (
                partition by cluster_id, cluster_incarnation
                order by changed_at
                rows between unbounded preceding and current row
            )
        ) as turns
    from turns
    group by cluster_id, cluster_incarnation, changed_at
),

-- A release runs if its last turn is its begin.
running as (
    select
        cluster_id,
        cluster_incarnation,
        changed_at,
        sort_array(
            transform(
                filter(
                    turns,
                    (turn, place) -> turn.is_running
                    and not exists(
                        slice(turns, place + 2, size(turns)),
                        later -> later.kafka_version = turn.kafka_version
                    )
                ),
                turn -> struct(turn.release_numbers, turn.kafka_version)
            )
        ) as running
    from turned
),

-- While no node runs, the cluster stays what it was.
states as (
    select * from running
    where size(running) > 0
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
