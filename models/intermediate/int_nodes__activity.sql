{{
    config(
        materialized='table',
        file_format='parquet',
        pre_hook=generate_code(true),
        post_hook=generate_code(false)
    )
}}

with node_events as (
    select * from {{ ref('stg_logs__node_events') }}
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

final as (
    select
        numbered.cluster_id,
        incarnations.cluster_incarnation,
        numbered.node_id,
        numbered.run_number,
        min(numbered.logged_at) as first_seen_at,
        max(numbered.logged_at) as last_seen_at,
        max(struct(numbered.logged_at, numbered.source_path, numbered.byte_offset)) as last_record
    from numbered
    inner join incarnations
        on
            numbered.cluster_id = incarnations.cluster_id
            and numbered.logged_at >= incarnations.valid_from
            and numbered.logged_at < incarnations.valid_to
    group by
        numbered.cluster_id,
        incarnations.cluster_incarnation,
        numbered.node_id,
        numbered.run_number
)

select * from final
