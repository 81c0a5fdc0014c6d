with changes as (
    select *
    from {{ ref('fct_isr_changes') }}
    where {{ question_filter(
        node='node_id',
        topic='topic_name',
        partition='partition_id',
        start='changed_at'
    ) }}
),

counted as (
    select
        cluster_id,
        topic_name,
        partition_id,
        count(*) as changes,
        count(*) filter (where change_kind = 'shrunk') as shrinks,
        array_sort(array_distinct(flatten(array_agg(removed)))) as lost,
        min(changed_at) as first_at,
        max(changed_at) as last_at
    from changes
    group by cluster_id, topic_name, partition_id
)

select *
from counted
order by changes desc, cluster_id asc, topic_name asc, partition_id asc
