with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('min.insync.replicas', 'int') }} as min_insync_replicas
    from events
    where {{ has_role('node_config') }} and {{ field('min.insync.replicas', 'int') }} is not null
)

select * from final
