with hours as (
    select * from {{ ref('int_fetchers__errors_hourly') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'node_id', 'source_node_id', 'fetcher_id', 'hour_at'
            ])
        }} as fetcher_disconnects_hourly_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        source_node_id,
        fetcher_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        disconnects,
        error_kinds,
        first_at,
        last_at,
        evidence,
        evidence_count,
        {{ warnings({'the node that wrote the log is unknown': 'node_id is null'}) }} as warnings
    from hours
)

select * from final
