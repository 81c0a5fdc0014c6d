with nodes_listed as (
    select * from {{ ref('stg_captures__nodes_listed') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

final as (
    {{ placed('nodes_listed', at='captured_at') }}
)

select * from final
