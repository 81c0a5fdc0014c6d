with events as (
    select * from {{ ref('stg_logs__issue_symptoms') }}
),

capture_rows as (
    select * from {{ ref('stg_captures__issue_symptoms') }}
),

predicates as (
    select * from {{ ref('known_issue_evidence') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

matchable as (
    select
        cluster_id,
        node_id,
        logged_at as seen_at,
        'event' as record_kind,
        event_type,
        source_path,
        byte_offset,
        0 as record_number,
        fields
    from events
    union all
    select
        cluster_id,
        node_id,
        captured_at as seen_at,
        row_kind as record_kind,
        cast(null as string) as event_type,
        source_path,
        byte_offset,
        row_number as record_number,
        fields
    from capture_rows
),

-- One row per record and way in which it shows a known issue.
records as (
    select
        matchable.* except (fields, event_type),
        predicates.issue_id,
        predicates.evidence_number,
        predicates.min_records,
        predicates.is_after_ready
    from matchable
    inner join predicates
        on
            matchable.record_kind = predicates.record_kind
            and coalesce(matchable.event_type, '') = coalesce(predicates.event_type, '')
    where
        (
            predicates.field_1 is null
            or matchable.fields[predicates.field_1] like predicates.pattern_1
        )
        and (
            predicates.field_2 is null
            or matchable.fields[predicates.field_2] like predicates.pattern_2
        )
        and (
            predicates.field_3 is null
            or matchable.fields[predicates.field_3] like predicates.pattern_3
        )
),

-- A record without a time counts for the last run.
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
