select
    cluster_id,
    controller_epoch,
    controller_id,
    epoch_kind,
    elected_at,
    ended_at,
    superseded_at,
    end_kind,
    known_by,
    leader_changes,
    is_split_brain,
    controller_tenure_key
from {{ ref('fct_controller_tenures') }}
where {{ question_filter(node='controller_id', start='known_since_at', end='ended_at') }}
order by cluster_id, known_since_at, controller_tenure_key
