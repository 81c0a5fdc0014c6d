select
    cluster_id,
    group_id,
    coordinator_id,
    known_by,
    valid_from,
    valid_to,
    duration_ms,
    group_coordinator_key
from {{ ref('fct_group_coordinators') }}
where
    {{ question_filter(
        node='coordinator_id', group='group_id', start='valid_from', end='valid_to'
    ) }}
order by cluster_id, valid_from, group_coordinator_key
