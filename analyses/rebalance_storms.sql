select
    cluster_id,
    group_id,
    date_trunc('hour', coalesce(started_at, ended_at)) as hour_at,
    count(*) as rebalances,
    count(*) filter (where is_failed) as failed,
    sum(retries) as retries,
    max(duration_ms) as slowest_ms,
    case
        when count(reason_kind) > 0
            then array_sort(array_agg(distinct reason_kind) filter (where reason_kind is not null))
    end as reasons
from {{ ref('fct_group_rebalances') }}
where {{ question_filter(group='group_id', start='coalesce(started_at, ended_at)') }}
group by cluster_id, group_id, date_trunc('hour', coalesce(started_at, ended_at))
order by rebalances desc, failed desc, hour_at asc nulls first, cluster_id asc, group_id asc
