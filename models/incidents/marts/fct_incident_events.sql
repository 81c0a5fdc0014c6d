with steps as (
    select * from {{ ref('int_incidents__steps') }}
),

final as (
    select
        {{ row_key(['incident_key', 'event_key', "role = 'recovery'"]) }} as incident_event_key,
        incident_key,
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
        said,
        node_ids as nodes,
        evidence,
        evidence_count,
        cast(array() as array<string>) as warnings
    from steps
)

select * from final
