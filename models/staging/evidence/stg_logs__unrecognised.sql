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
        -- Numbers apart, the same words are the same shape; what follows the first 300 letters seldom tells two apart.
        left(translate(body, '0123456789', ''), 300) as shape
    from records
    where outcome = 'unrecognised' and {{ in_built_clusters() }}
)

select * from final
