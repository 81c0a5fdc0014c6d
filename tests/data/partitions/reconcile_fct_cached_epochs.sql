-- A node that missed an epoch has rows for both sides: each epoch of the partition, and each in the
-- node's own log.
with missed as (
    select * from {{ ref('int_partitions__epochs_missed') }}
),

elections as (
    select * from {{ ref('fct_leader_elections') }}
),

mart_rows as (
    select * from {{ ref('fct_cached_epochs') }}
),

partitions as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        count(distinct node_id, coalesce(term_epoch, -1)) as followers
    from missed
    group by all
),

expected as (
    select
        partitions.cluster_id,
        sum(partitions.followers) as stored_changes
    from partitions
    inner join elections
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation)
    group by partitions.cluster_id
),

found as (
    select
        cluster_id,
        count_if(change_kind = 'stored') as stored_changes,
        max(epochs_behind) as most_behind
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.stored_changes as expected_changes,
        found.stored_changes as found_changes,
        found.most_behind
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.stored_changes, 0) <> coalesce(found.stored_changes, 0)
        or found.most_behind < 1
)

select * from final
