-- Every death that a cleaner thread reports with its exception, and every partition that is given
-- up, is part of an outage, unless its process was stopping: no node has fewer such lines in its
-- outages than outages, and none has outages without lines.
with source_rows as (
    select * from {{ ref('stg_logs__cleaner_events') }}
),

mart_rows as (
    select * from {{ ref('fct_log_cleaner_outages') }}
),

expected as (
    select
        cluster_id,
        node_id,
        count(distinct topic_name, partition_id) as partitions_given_up,
        count_if({{ has_role('cleaner_thread_failure') }}) as deaths,
        count_if({{ has_role('cleaner_stop') }}) as stops
    from source_rows
    where {{ has_role(['cleaner_thread_failure', 'uncleanable_partition', 'cleaner_stop']) }}
    group by cluster_id, node_id
),

found as (
    select
        cluster_id,
        node_id,
        count(distinct topic_name, partition_id)
        filter (where scope = 'partition') as partitions_given_up,
        count_if(
            found_by = 'thread_error' and cause is not null and scope <> 'partition'
        ) as deaths
    from mart_rows
    group by cluster_id, node_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        coalesce(expected.node_id, found.node_id) as node_id,
        expected.partitions_given_up as expected_partitions,
        found.partitions_given_up as found_partitions,
        expected.deaths as expected_deaths,
        found.deaths as found_deaths
    from expected
    full outer join found
        on expected.cluster_id = found.cluster_id and expected.node_id <=> found.node_id
    where
        coalesce(expected.partitions_given_up, 0) <> coalesce(found.partitions_given_up, 0)
        or coalesce(found.deaths, 0) > coalesce(expected.deaths, 0)
        or coalesce(expected.deaths, 0) > coalesce(found.deaths, 0) + coalesce(expected.stops, 0)
)

select * from final
