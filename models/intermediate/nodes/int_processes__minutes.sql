{{
    config(
        materialized='table',
        meta={'at': 'minute_at', 'unit': 'minute'}
    )
}}

with records as (
    select * from {{ ref('stg_logs__records') }}
    where {{ in_built_clusters() }} and logged_at is not null and {{ since('logged_at') }}
),

final as (
    select
        cluster_id,
        process_name,
        date_trunc('minute', logged_at) as minute_at,
        max(logged_at) as last_logged_at
    from records
    group by cluster_id, process_name, date_trunc('minute', logged_at)
)

select * from final
where {{ since('minute_at') }}
