with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

grouped as (
    select
        cluster_id,
        node_id,
        max(writer) as writer,
        max_by(process_roles, run_number) filter (where process_roles is not null) as process_roles,
        max_by(kafka_version, run_number) filter (where kafka_version is not null) as kafka_version,
        min(first_seen_at) as first_seen_at,
        max(last_seen_at) as last_seen_at,
        cast(count(started_at) as int) as starts
    from runs
    group by cluster_id, node_id
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id']) }} as node_key,
        cluster_id,
        node_id,
        {{ node_name() }} as node_name,
        process_roles as roles,
        kafka_version,
        first_seen_at,
        last_seen_at,
        starts
    from grouped
)

select * from final
