{{
    config(
        materialized='table',
        file_format='parquet'
    )
}}

with node_events as (
    select * from {{ ref('base_logs__distinct_events') }}
    where node_id is not null
),

starts as (
    select * from {{ ref('int_nodes__starts') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Nothing but the place of each event: they are many.
events_and_starts as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        0 as starts
    from node_events
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        1 as starts
    from starts
    where is_start
),

numbered as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        cast(sum(starts) over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset, 1 - starts
            rows between unbounded preceding and current row
        ) as int) as run_number
    from events_and_starts
),

placed as (
    {{ placed('numbered') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        run_number,
        min(logged_at) as first_seen_at,
        max(logged_at) as last_seen_at,
        max(struct(logged_at, source_path, byte_offset)) as last_record
    from placed
    group by cluster_id, cluster_incarnation, node_id, run_number
)

select * from final
