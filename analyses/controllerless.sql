select
    cluster_id,
    started_at,
    ended_at,
    duration_ms,
    last_sign_at,
    last_controller_id,
    next_controller_id,
    epochs,
    known_by,
    controllerless_window_key
from {{ ref('fct_controllerless_windows') }}
where {{ question_filter(start='started_at', end='ended_at') }}
order by duration_ms desc nulls first, started_at asc, controllerless_window_key asc
