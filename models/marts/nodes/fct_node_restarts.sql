{{ config(meta={'at': 'stopped_at'}) }}

with runs as (
    select * from {{ ref('int_nodes__runs_ended') }}
),

logged_runs as (
    select * from {{ ref('int_nodes__runs') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A process that ends within ten minutes and never says that it is ready is an attempt to start.
described as (
    select
        runs.* except (kafka_version),
        logged_runs.stopped_at is not null as is_stop_logged,
        logged_runs.evidence as own_evidence,
        releases.kafka_version,
        releases.release_known_from,
        runs.ready_at is not null
        or runs.started_at is null
        or coalesce(runs.stopped_at, runs.last_seen_at) > runs.started_at + interval 10 minutes
            as has_run
    from runs
    inner join logged_runs using (cluster_id, node_id, run_number)
    left join releases using (cluster_id, node_id, run_number)
),

followed as (
    select
        * except (next_started_at),
        lead(started_at) over (in_order) as next_started_at,
        lead(
            if(
                has_run,
                struct(
                    node_run_key,
                    run_number,
                    started_at,
                    ready_at,
                    process_roles,
                    kafka_version,
                    release_known_from,
                    own_evidence
                ),
                null
            )
        ) ignore nulls over (in_order) as next_run,
        max(run_number) over (
            partition by cluster_id, cluster_incarnation, node_id
        ) as last_run_number
    from described
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id order by run_number
    )
),

measured as (
    select
        followed.*,
        next_run.ready_at as next_ready_at,
        followed.next_run is null and incarnations.valid_to = timestamp '9999-01-01 00:00:00'
            as is_open,
        if(followed.next_run is null, observed.last_seen_at, null) as last_seen_of_cluster_at,
        -- What it says of its end, the last record among it, and of the next start.
        array_distinct(
            concat(
                slice(followed.evidence, 1, if(followed.is_end_noticed, 1, 0)),
                slice(
                    followed.evidence,
                    greatest(1, size(followed.evidence) - 3),
                    4
                ),
                slice(coalesce(followed.next_run.own_evidence, array()), 1, 5)
            )
        ) as restart_evidence
    from followed
    left join observed using (cluster_id, cluster_incarnation)
    left join incarnations using (cluster_id, cluster_incarnation)
    where followed.has_run and followed.end_kind <> 'open'
),

final as (
    select
        {{ row_key(['node_run_key']) }} as node_restart_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        node_run_key,
        next_run.node_run_key as next_node_run_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        coalesce(process_roles, next_run.process_roles) as roles,
        stopping_at,
        stopped_at,
        next_started_at as started_at,
        next_ready_at as ready_at,
        is_open,
        if(is_open, greatest(stopped_at, last_seen_of_cluster_at), next_ready_at) as observed_until,
        cast(stopped_at as date) as stopped_date,
        end_kind,
        if(
            end_kind = 'clean' and is_stop_logged,
            unix_millis(stopped_at) - unix_millis(stopping_at),
            null
        ) as shutdown_ms,
        if(
            next_ready_at >= stopped_at,
            unix_millis(next_ready_at) - unix_millis(stopped_at),
            null
        ) as downtime_ms,
        case
            when is_open
                then
                    unix_millis(greatest(stopped_at, last_seen_of_cluster_at))
                    - unix_millis(stopped_at)
            when next_ready_at >= stopped_at
                then unix_millis(next_ready_at) - unix_millis(stopped_at)
        end as downtime_so_far_ms,
        cast(coalesce(next_run.run_number, last_run_number) - run_number as int) as starts,
        if(release_known_from <= stopped_at, kafka_version, null) as kafka_version_before,
        if(
            next_run.release_known_from <= next_run.started_at, next_run.kafka_version, null
        ) as kafka_version_after,
        restart_evidence as evidence,
        cast(size(restart_evidence) as bigint) as evidence_count,
        {{
            warnings({
                'the node has not come back in the logs': 'is_open',
                'the storage of the cluster was formatted before it came back': 'next_run is null and not is_open',
                'no record says when it was ready again': 'next_run is not null and next_ready_at is null',
                'a start in between did not get as far as being ready':
                    'coalesce(next_run.run_number, last_run_number) > run_number + if(next_run is null, 0, 1)',
                'no record says that it had stopped: stopped_at is its last record':
                    "end_kind = 'clean' and not is_stop_logged",
                'concluded from the next start: no other node noticed its end, and its log may be missing':
                    "end_kind = 'killed' and not is_end_noticed",
                'one node alone noticed its end, long after its last record: it may have ended before':
                    'is_end_late',
                'no node noticed its end: its time is derived from its fencing': 'is_end_estimated',
                'its log says that it was ready before its end was noticed': 'next_ready_at < stopped_at',
                'nothing names its node: it is known by its file alone (--node says which node it is)':
                    'node_id < -1'
            })
        }} as warnings
    from measured
)

select * from final
