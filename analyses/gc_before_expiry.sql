select
    expiries.cluster_id,
    expiries.owner,
    expiries.session_id,
    expiries.timeout_ms,
    pauses.started_at as pause_started_at,
    pauses.duration_ms as paused_ms,
    pauses.pause_kind,
    pauses.cause as gc_cause,
    pauses.heap_after_bytes,
    pauses.heap_total_bytes,
    expiries.expired_at,
    expiries.reconnected_at,
    expiries.was_controller,
    expiries.session_expiry_key
from {{ ref('fct_session_expiries') }} as expiries
inner join {{ ref('fct_gc_pauses') }} as pauses
    on expiries.cause_key = pauses.gc_pause_key
where
    expiries.cause_kind = 'gc_pause'
    and {{ question_filter(
        cluster='expiries.cluster_id',
        node='expiries.node_id',
        start='expiries.expired_at',
        end='expiries.reconnected_at'
    ) }}
order by expiries.expired_at, expiries.session_expiry_key
