-- Each event type of the catalogue is one row, and no other is.
with source_rows as (
    select * from {{ ref('event_types') }}
),

mart_rows as (
    select * from {{ ref('dim_event_types') }}
),

final as (
    select
        source_rows.event_type as expected_event_type,
        mart_rows.event_type as found_event_type
    from source_rows
    full outer join mart_rows on source_rows.event_type = mart_rows.event_type
    where source_rows.event_type is null or mart_rows.event_type is null
)

select * from final
