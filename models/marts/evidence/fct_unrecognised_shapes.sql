with shapes as (
    select * from {{ ref('int_logs__unrecognised_shapes') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'logger', 'level', 'shape']) }} as unrecognised_shape_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        logger,
        level,
        shape,
        records,
        first_seen_at,
        last_seen_at,
        cast(first_seen_at as date) as first_seen_date,
        evidence,
        evidence_count,
        {{ warnings({'records without a time': 'first_seen_at is null'}) }} as warnings
    from shapes
)

select * from final
