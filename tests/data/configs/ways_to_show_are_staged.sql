-- Event types that show known issues and of which bronze has records of nodes, but
-- stg_logs__issue_symptoms has none: its list lacks them.
with predicates as (
    select distinct event_type
    from {{ ref('known_issue_evidence') }}
    where event_type is not null
),

events as (
    select distinct event_type
    from {{ ref('base_logs__distinct_events') }}
    where node_id is not null
),

staged as (
    select distinct event_type from {{ ref('stg_logs__issue_symptoms') }}
),

final as (
    select predicates.event_type
    from predicates
    inner join events on predicates.event_type = events.event_type
    left anti join staged on predicates.event_type = staged.event_type
)

select * from final
