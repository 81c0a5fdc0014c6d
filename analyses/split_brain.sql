select
    cluster_id,
    controller_epoch,
    controller_id,
    elected_at,
    superseded_at,
    ended_at,
    overlapping_controller_id,
    overlap_ms,
    late_writes,
    end_kind,
    controller_tenure_key
from {{ ref('fct_controller_tenures') }}
where
    is_split_brain
    and {{ question_filter(node='controller_id', start='elected_at', end='ended_at') }}
order by elected_at, controller_tenure_key
