with members as (
    select * from {{ ref('int_incidents__members') }}
),

steps as (
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
        said,
        fact_rows,
        node_ids,
        evidence,
        evidence_count
    from members
    union all
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        event_key,
        until_at as happened_at,
        event_kind,
        fact_name,
        fact_key,
        'recovery' as role,
        said_recovery as said,
        fact_rows,
        node_ids,
        evidence,
        evidence_count
    from members
    where said_recovery is not null and until_at is not null
),

final as (
    select
        *,
        cast(row_number() over (
            partition by incident_key
            order by happened_at, role = 'recovery', role <> 'cause', event_kind, event_key
        ) as int) as sequence
    from steps
)

select * from final
