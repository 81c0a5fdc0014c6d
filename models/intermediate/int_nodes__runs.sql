{{ config(materialized='table', file_format='parquet') }}

with node_events as (
    select * from {{ ref('stg_logs__node_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    select
        node_events.*,
        incarnations.cluster_incarnation
    from node_events
    inner join incarnations
        on
            node_events.cluster_id = incarnations.cluster_id
            and node_events.logged_at >= incarnations.valid_from
            and node_events.logged_at < incarnations.valid_to
),

-- A process says several times that it starts (server, shared server, broker, controller): once until it has started,
-- stopped, or said nothing of it for a minute.
marked as (
    select
        *,
        lag(logged_at) over (
            partition by cluster_id, node_id, lifecycle_step <=> 'starting'
            order by logged_at, source_path, byte_offset
        ) as previous_start_at,
        max(case when lifecycle_step in ('stopping', 'stopped', 'started') then logged_at end)
            over (
                partition by cluster_id, node_id
                order by logged_at, source_path, byte_offset
                rows between unbounded preceding and 1 preceding
            ) as previous_end_at
    from placed
),

numbered as (
    select
        *,
        sum(
            case
                when
                    lifecycle_step = 'starting'
                    and (
                        previous_start_at is null
                        or previous_end_at > previous_start_at
                        or logged_at > previous_start_at + interval 1 minute
                    )
                    then 1
                else 0
            end
        ) over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as run_number
    from marked
),

grouped as (
    select
        cluster_id,
        min(cluster_incarnation) as cluster_incarnation,
        node_id,
        cast(run_number as int) as run_number,
        max(kafka_version) filter (where event_type = 'kafka_version_logged') as kafka_version,
        max(process_roles) as process_roles,
        max(zookeeper_connect) as zookeeper_connect,
        max(
            event_type in (
                'broker_starting', 'shared_server_starting', 'broker_incarnation_started'
            )
        ) as is_kraft,
        min(case when lifecycle_step = 'starting' then logged_at end) as started_at,
        min(case when lifecycle_step = 'started' then logged_at end) as ready_at,
        max(case when lifecycle_step = 'stopping' then logged_at end) as stopping_at,
        max(case when lifecycle_step = 'stopped' then logged_at end) as stopped_at,
        max(case when lifecycle_step = 'failed' then logged_at end) as failed_at,
        min(logged_at) as first_seen_at,
        max(logged_at) as last_seen_at,
        {{ evidence('lifecycle_step is not null') }} as evidence,
        count_if(lifecycle_step is not null) as evidence_count
    from numbered
    group by cluster_id, node_id, run_number
),

final as (
    select
        *,
        lead(started_at)
            over (partition by cluster_id, node_id order by run_number)
            as next_started_at
    from grouped
)

select * from final
