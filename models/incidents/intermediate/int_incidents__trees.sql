with events as (
    select * from {{ ref('int_incidents__events') }}
),

roots as (
    select * from {{ ref('int_incidents__roots') }}
),

kinds as (
    select * from {{ ref('incident_kinds') }}
),

trees as (
    select
        roots.root_event_key,
        max(kinds.is_harm) as is_harm,
        max(coalesce(events.ended_at, events.started_at)) as last_at
    from roots
    inner join events on roots.event_key = events.event_key
    inner join kinds on events.event_kind = kinds.event_kind
    group by roots.root_event_key
),

-- What people do to one node after the other is one maintenance; sessions that end together have one cause, though
-- none is known.
kept as (
    select
        trees.root_event_key,
        events.cluster_id,
        events.cluster_incarnation,
        events.started_at,
        case
            when kinds.is_planned then 'planned'
            when kinds.event_kind = 'session_expired' then 'session_expired'
            else trees.root_event_key
        end as family,
        case when kinds.is_planned then trees.last_at else events.started_at end as last_at,
        case when kinds.is_planned then {{ var('maintenance_gap_ms') }} else 10000 end as gap_ms
    from trees
    inner join events on trees.root_event_key = events.event_key
    inner join kinds on events.event_kind = kinds.event_kind
    where trees.is_harm or kinds.is_planned
),

spaced as (
    select
        *,
        max(last_at) over (
            partition by cluster_id, cluster_incarnation, family
            order by started_at, root_event_key
            rows between unbounded preceding and 1 preceding
        ) as last_ended_at
    from kept
),

numbered as (
    select
        *,
        sum(
            case
                when unix_millis(started_at) - unix_millis(last_ended_at) <= gap_ms then 0
                else 1
            end
        ) over (
            partition by cluster_id, cluster_incarnation, family
            order by started_at, root_event_key
            rows between unbounded preceding and current row
        ) as family_number
    from spaced
),

final as (
    select
        root_event_key,
        first_value(root_event_key) over (
            partition by cluster_id, cluster_incarnation, family, family_number
            order by started_at, root_event_key
            rows between unbounded preceding and unbounded following
        ) as incident_root_key
    from numbered
)

select * from final
