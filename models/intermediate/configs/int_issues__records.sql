with events as (
    select * from {{ ref('stg_logs__issue_symptoms') }}
),

capture_rows as (
    select * from {{ ref('stg_captures__issue_symptoms') }}
),

predicates as (
    select * from {{ ref('known_issue_evidence') }}
),

records as (
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

final as (
    select
        records.* except (fields, event_type),
        predicates.issue_id,
        predicates.evidence_number,
        predicates.min_records,
        predicates.is_after_ready
    from records
    inner join predicates
        on
            records.record_kind = predicates.record_kind
            and coalesce(records.event_type, '') = coalesce(predicates.event_type, '')
    where
        (predicates.field_1 is null or records.fields[predicates.field_1] like predicates.pattern_1)
        and (
            predicates.field_2 is null
            or records.fields[predicates.field_2] like predicates.pattern_2
        )
        and (
            predicates.field_3 is null
            or records.fields[predicates.field_3] like predicates.pattern_3
        )
)

select * from final
