with ranked as (
    select
        *,
        row_number() over (
            partition by cluster_id, cluster_incarnation, group_id, topic_name, partition_id
            order by window_ended_at desc, group_lag_status_key asc
        ) as rank
    from {{ ref('fct_group_lag_status') }}
    where {{ question_filter(
        group='group_id',
        topic='topic_name',
        partition='partition_id',
        start='window_started_at',
        end='window_ended_at'
    ) }}
)

select
    cluster_id,
    group_id,
    topic_name,
    partition_id,
    status,
    first_lag,
    last_lag,
    last_offset,
    samples,
    window_started_at,
    window_ended_at,
    group_lag_status_key
from ranked
where rank = 1 and (last_lag > 0 or coalesce(status, 'OK') <> 'OK')
order by
    last_lag desc nulls last,
    cluster_id asc,
    group_id asc,
    topic_name asc,
    partition_id asc,
    group_lag_status_key asc
