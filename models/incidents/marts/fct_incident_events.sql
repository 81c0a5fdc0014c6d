with members as (
    select * from {{ ref('int_incidents__members') }}
),

beginnings_and_ends as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        event_key,
        started_at as happened_at,
        event_kind,
        fact_name,
        fact_key,
        role,
        sentence,
        fact_rows,
        node_ids,
        evidence,
        evidence_count,
        warnings
    from members
    union all
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        event_key,
        ended_at as happened_at,
        event_kind,
        fact_name,
        fact_key,
        'recovery' as role,
        recovery_sentence as sentence,
        fact_rows,
        node_ids,
        end_evidence as evidence,
        cast(size(end_evidence) as bigint) as evidence_count,
        warnings
    from members
    -- A stretch may end without a recovery: with the topic, or the process.
    where recovery_sentence is not null and ended_at is not null and end_evidence is not null
),

-- One row per beginning of an event of an incident, and per recorded end.
steps as (
    select
        *,
        cast(row_number() over (
            partition by incident_key
            order by happened_at, role = 'recovery', role <> 'cause', event_kind, event_key
        ) as int) as sequence
    from beginnings_and_ends
),

final as (
    select
        {{ row_key(['incident_key', 'event_key', "role = 'recovery'"]) }} as incident_event_key,
        {{ cluster_key() }} as cluster_key,
        incident_key,
        event_key,
        cluster_id,
        cluster_incarnation,
        sequence,
        happened_at,
        cast(happened_at as date) as happened_date,
        event_kind,
        fact_name,
        fact_key,
        fact_rows,
        role,
        sentence,
        node_ids as nodes,
        evidence,
        evidence_count,
        warnings
    from steps
)

select * from final
