{{ config(materialized='table') }}

with names as (
    select * from {{ ref('stg_logs__client_names') }}
),

grouped as (
    select
        cluster_id,
        process_name,
        client_id,
        min(name_rank) as name_rank,
        coalesce(min(logged_at), timestamp '1970-01-01 00:00:00') as first_at,
        coalesce(max(logged_at), timestamp '9998-12-31 00:00:00') as last_at
    from names
    group by cluster_id, process_name, client_id
),

ranked as (
    select
        *,
        min(name_rank) over (partition by cluster_id, process_name) as best_rank
    from grouped
),

-- ZooKeeper consumers and Streams clients take a new id at each start and print it all the time;
-- other clients may print theirs only at start.
final as (
    select
        cluster_id,
        process_name,
        client_id,
        first_at,
        if(best_rank <= 2, last_at, timestamp '9998-12-31 00:00:00') as last_at
    from ranked
    where name_rank = best_rank
)

select * from final
