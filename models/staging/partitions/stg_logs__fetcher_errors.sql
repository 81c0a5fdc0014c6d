with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('fetch_leader', 'int') }} as source_node_id,
        {{ field('fetcher', 'int') }} as fetcher_id,
        -- From 1.1 on the fetch session and the fetcher thread each log the same failure; only the session's line names the
        -- node again.
        {{ field('leader') }} is not null as is_node_named,
        coalesce({{ field('exception') }}, {{ field('error') }}) as exception,
        coalesce({{ field('exception_message') }}, {{ field('error') }}) as exception_message
    from events
    where
        {{ has_role('fetch_failure') }}
        -- Old consumers fetch with other threads.
        and {{ field('fetch_leader') }} is not null
)

select * from final
