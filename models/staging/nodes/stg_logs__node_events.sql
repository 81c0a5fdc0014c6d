with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select {{ event_columns() }}
    from events
    where node_id is not null
)

select * from final
