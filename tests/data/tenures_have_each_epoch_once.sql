-- A controller epoch is given once in one incarnation.
with tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        count(*) as tenures
    from tenures
    group by cluster_id, cluster_incarnation, controller_epoch
    having count(*) > 1
)

select * from final
