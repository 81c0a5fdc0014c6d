with records as (
    select * from {{ source('bronze', 'log_records') }}
),

final as (
    select
        cluster_id,
        source_id,
        source_path,
        byte_offset,
        node_id,
        {{ process_name(of_record=true) }} as process_name,
        logged_at,
        time_resolution_ms,
        event_date,
        logger,
        outcome,
        byte_length,
        event_type is not null as is_recognised,
        batch_id,
        ingested_at
    from records
)

select * from final
