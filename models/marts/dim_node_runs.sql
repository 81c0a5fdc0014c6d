with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'run_number']) }} as node_run_key,
        {{ row_key(['cluster_id', 'node_id']) }} as node_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        run_number,
        process_roles as roles,
        kafka_version,
        started_at,
        ready_at,
        stopping_at,
        coalesce(
            stopped_at,
            stopping_at,
            case when failed_at is not null or next_started_at is not null then last_seen_at end
        ) as stopped_at,
        case
            -- A KRaft controller without a broker role says that it stops, but not that it has stopped.
            when stopped_at is not null or stopping_at is not null then 'clean'
            when failed_at is not null then 'fatal'
            when next_started_at is not null then 'killed'
            else 'open'
        end as end_kind,
        first_seen_at,
        last_seen_at,
        evidence,
        evidence_count
    from runs
)

select * from final
