with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        fields
    from events
    where
        {{ has_role('known_issue_symptom') }}
        and writer_id is not null
)

select * from final
