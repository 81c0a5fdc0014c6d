-- While a window without a controller lasts, no node is controller of the same kind: the tenures of which the controller's own log tells.
with windows as (
    select * from {{ ref('fct_controllerless_windows') }}
),

tenures as (
    select * from {{ ref('fct_controller_tenures') }}
    where not array_contains(warnings, 'no record from the controller itself')
),

final as (
    select
        windows.controllerless_window_key,
        tenures.controller_tenure_key
    from windows
    inner join tenures
        on
            windows.cluster_id = tenures.cluster_id
            and windows.cluster_incarnation = tenures.cluster_incarnation
            and windows.epoch_kind = tenures.epoch_kind
            and coalesce(windows.ended_at, windows.last_sign_at) > tenures.elected_at
            and windows.started_at < tenures.ended_at
            and tenures.end_kind <> 'killed'
)

select * from final
