with holes as (
    select * from {{ ref('int_processes__log_silences') }}
),

late as (
    select * from {{ ref('int_processes__overdue_stalls') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

missed as (
    select * from {{ ref('int_nodes__missed_by_peers') }}
),

-- A running process logs its failed sends: one that wrote nothing at all during that time had stalled.
silent as (
    select
        missed.cluster_id,
        holes.process_name,
        missed.node_id,
        greatest(holes.silent_from, missed.silent_since) as started_at,
        holes.resumed_at as ended_at,
        missed.logged_at,
        missed.source_path,
        missed.byte_offset
    from missed
    inner join holes
        on
            missed.cluster_id = holes.cluster_id
            and holes.process_name = concat('node ', missed.node_id)
            and holes.silent_from
            <= missed.silent_since + make_dt_interval(0, 0, 0, missed.slack_ms / 1000.0)
            and missed.logged_at <= holes.resumed_at
),

-- Where the next word is that of a new process, the old one was dead; a start has lines before the one that says so. What a
-- process says of its stall itself is nearer.
final as (
    select silent.*
    from silent
    left anti join runs
        on
            silent.cluster_id = runs.cluster_id
            and silent.node_id = runs.node_id
            and silent.started_at <= runs.started_at
            and runs.started_at <= silent.ended_at + interval 10 seconds
    left anti join late
        on
            silent.cluster_id = late.cluster_id
            and silent.process_name = late.process_name
            and silent.started_at < late.ended_at
            and silent.ended_at > late.started_at
)

select * from final
