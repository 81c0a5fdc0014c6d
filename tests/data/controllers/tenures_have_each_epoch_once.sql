-- Each epoch of the controller, or of the quorum's leader, is given only once in one incarnation.
with tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        controller_epoch,
        count(*) as tenures
    from tenures
    group by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
    having count(*) > 1
)

select * from final
