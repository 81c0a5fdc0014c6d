with records as (
    select * from {{ ref('int_issues__records') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

-- A record without a time speaks of the last run.
in_runs as (
    select
        records.*,
        releases.run_number
    from records
    inner join releases
        on
            records.cluster_id = releases.cluster_id
            and records.node_id = releases.node_id
            and coalesce(records.seen_at, timestamp '9998-01-01 00:00:00') >= releases.valid_from
            and coalesce(records.seen_at, timestamp '9998-01-01 00:00:00') < releases.valid_to
            and (not records.is_after_ready or records.seen_at > releases.ready_at)
),

by_way as (
    select
        *,
        count(*) over (
            partition by cluster_id, node_id, run_number, issue_id, evidence_number
        ) as records_of_way
    from in_runs
),

-- One line may show an issue in two ways.
lines as (
    select
        cluster_id,
        node_id,
        run_number,
        issue_id,
        source_path,
        byte_offset,
        min(seen_at) as seen_at
    from by_way
    where records_of_way >= min_records
    group by cluster_id, node_id, run_number, issue_id, source_path, byte_offset
),

final as (
    select
        cluster_id,
        node_id,
        run_number,
        issue_id,
        min(seen_at) as first_seen_at,
        max(seen_at) as last_seen_at,
        {{ evidence(at='seen_at') }} as evidence,
        count(*) as evidence_count
    from lines
    group by cluster_id, node_id, run_number, issue_id
)

select * from final
