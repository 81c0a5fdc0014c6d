with unrecognised as (
    select * from {{ ref('stg_logs__unrecognised') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed_records as (
    {{ placed('unrecognised') }}
),

final as (
    select
        cluster_id,
        logger,
        level,
        shape,
        min(cluster_incarnation) as cluster_incarnation,
        count(*) as records,
        min(logged_at) as first_seen_at,
        max(logged_at) as last_seen_at,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed_records
    group by cluster_id, logger, level, shape
)

select * from final
