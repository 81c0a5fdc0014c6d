{{ config(materialized='table', meta={'at': 'last_seen_at'}) }}

with minutes as (
    select * from {{ ref('int_nodes__minutes') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
    where node_id >= 0
),

seen as (
    select
        cluster_id,
        cluster_incarnation,
        min(first_seen_at) as first_seen_at,
        max(last_record.logged_at) as last_seen_at,
        sort_array(collect_set(node_id) filter (where node_id >= 0)) as nodes
    from minutes
    group by cluster_id, cluster_incarnation
),

-- The last run of each broker, with when it stopped on purpose.
last_runs as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        max_by(
            case
                when failed_at is null and coalesce(stopping_at, stopped_at) is not null
                    then coalesce(stopped_at, last_seen_at)
            end,
            run_number
        ) as stopped_at
    from runs
    where coalesce(process_roles like '%broker%', true)
    group by cluster_id, cluster_incarnation, node_id
),

stopped as (
    select
        cluster_id,
        cluster_incarnation,
        if(count(stopped_at) = count(*), max(stopped_at), null) as all_stopped_at
    from last_runs
    group by cluster_id, cluster_incarnation
),

final as (
    select
        seen.*,
        stopped.all_stopped_at
    from seen
    left join stopped using (cluster_id, cluster_incarnation)
)

select * from final
