select
    cluster_id,
    records,
    level,
    logger,
    shape,
    first_seen_at,
    last_seen_at,
    unrecognised_shape_key
from {{ ref('fct_unrecognised_shapes') }}
where {{ question_filter(start='first_seen_at', end='last_seen_at') }}
order by records desc, cluster_id asc, unrecognised_shape_key asc
