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
        logged_at,
        level,
        logger,
        -- Apart from numbers, the same words are the same shape; text after the first 300
        -- characters rarely distinguishes two.
        left(translate(body, '0123456789', ''), 300) as shape
    from records
    where outcome = 'unrecognised' and {{ in_built_clusters() }}
)

select * from final
