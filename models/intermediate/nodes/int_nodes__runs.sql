{{ config(materialized='table') }}

with minutes as (
    select * from {{ ref('int_nodes__minutes') }}
),

lifecycle_events as (
    select * from {{ ref('int_nodes__starts') }}
),

numbered as (
    select
        *,
        cast(sum(starts) over (
            partition by cluster_id, node_id
            order by minute_at, start_number, first_seen_at
            rows between unbounded preceding and current row
        ) as int) as run_number
    from minutes
),

seen as (
    select
        cluster_id,
        -- No storage is formatted while a process uses it: a run that begins just before the first sign of a new
        -- incarnation is of that one.
        max(cluster_incarnation) as cluster_incarnation,
        node_id,
        run_number,
        min(first_seen_at) as first_seen_at,
        max(last_record.logged_at) as last_seen_at,
        max(last_record) as last_record
    from numbered
    group by cluster_id, node_id, run_number
),

reported as (
    select
        cluster_id,
        node_id,
        run_number,
        max(writer) as writer,
        {{ newest_release('kafka_version') }} filter (where {{ has_role('kafka_version') }})
            as kafka_version,
        max(process_roles) as process_roles,
        max(zookeeper_connect) as zookeeper_connect,
        max(
            {{ has_role('kraft_node_sign') }}
        ) as is_kraft,
        min(case when lifecycle_step = 'starting' then logged_at end) as started_at,
        collect_set(case when lifecycle_step = 'started' then logged_at end) as readies,
        max(case when {{ has_role('node_start_failure') }} then logged_at end) as start_failed_at,
        collect_set(case when lifecycle_step = 'stopping' then logged_at end) as stops,
        max(case when lifecycle_step = 'stopped' then logged_at end) as stopped_at,
        max(case when lifecycle_step = 'failed' then logged_at end) as failed_at,
        {{ evidence("lifecycle_step = 'starting'") }} as starting,
        {{ evidence("lifecycle_step = 'started'") }} as started,
        {{ evidence("lifecycle_step not in ('starting', 'started')") }} as ending,
        count_if(lifecycle_step is not null) as evidence_count
    from lifecycle_events
    group by cluster_id, node_id, run_number
),

described as (
    select
        seen.cluster_id,
        seen.cluster_incarnation,
        seen.node_id,
        reported.writer,
        seen.run_number,
        reported.kafka_version,
        reported.process_roles,
        reported.zookeeper_connect,
        coalesce(reported.is_kraft, false) as is_kraft,
        reported.started_at,
        -- A broker that does not start may have said that it had, moments before.
        array_min(
            filter(
                reported.readies,
                ready -> coalesce(ready < reported.start_failed_at - interval 5 minutes, true)
            )
        ) as ready_at,
        -- The roles of a process stop one after the other.
        array_min(
            filter(reported.stops, stop -> stop >= array_max(reported.stops) - interval 10 minutes)
        ) as stopping_at,
        reported.stopped_at,
        reported.failed_at,
        seen.first_seen_at,
        seen.last_seen_at,
        named_struct(
            'node_id', seen.node_id,
            'source_path', seen.last_record.source_path,
            'byte_offset', seen.last_record.byte_offset
        ) as last_line,
        concat(slice(reported.starting, 1, 3), slice(reported.started, 1, 2)) as start_evidence,
        -- Up to 0.8.2 a start prints many lines: those of the end come before the rest of them.
        slice(
            concat(
                slice(reported.starting, 1, if(reported.evidence_count > 9, 3, 10)),
                slice(reported.started, 1, if(reported.evidence_count > 9, 2, 10)),
                reported.ending,
                slice(reported.starting, if(reported.evidence_count > 9, 4, 11), 10),
                slice(reported.started, if(reported.evidence_count > 9, 3, 11), 10)
            ),
            1,
            9
        ) as lifecycle_evidence,
        reported.evidence_count,
        lead(reported.started_at) over (on_node) as next_started_at,
        cast(row_number() over (
            partition by
                seen.cluster_id, seen.node_id, date_trunc('minute', reported.started_at)
            order by seen.run_number
        ) as int) as start_number,
        coalesce(array_max(reported.stops), reported.stopped_at, reported.failed_at) is not null
        or lead(seen.run_number) over (on_node) is not null as is_over
    from seen
    left join reported
        on
            seen.cluster_id = reported.cluster_id
            and seen.node_id = reported.node_id
            and seen.run_number = reported.run_number
    window on_node as (partition by seen.cluster_id, seen.node_id order by seen.run_number)
),

final as (
    select
        {{ node_run_key() }} as node_run_key,
        * except (is_over, last_line, lifecycle_evidence, evidence_count),
        -- Null while the process runs, so that readers of these columns alone see no change with
        -- every line that it writes.
        if(is_over, last_seen_at, null) as fell_silent_at,
        if(is_over, last_line, null) as final_line,
        -- The last sign of life is evidence too; for a process that was killed it is the only
        -- evidence.
        concat(coalesce(lifecycle_evidence, array()), array(last_line)) as evidence,
        coalesce(evidence_count, 0) + 1 as evidence_count
    from described
)

select * from final
