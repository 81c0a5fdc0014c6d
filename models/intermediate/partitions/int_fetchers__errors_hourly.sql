with errors as (
    select * from {{ ref('stg_logs__fetcher_errors') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

judged as (
    select
        *,
        date_trunc('hour', logged_at) as hour_at,
        case
            when
                exception_message like '%shutdown before response%'
                or exception like '%ClosedSelector%'
                then 'stopped'
            when exception_message like '%disconnected before%' then 'disconnected'
            when exception_message like '%onnection to % failed%' then 'connection_failed'
            when exception like '%SocketTimeout%' or exception like '%TimeoutException%'
                then 'timed_out'
            when
                exception like '%ClosedChannel%'
                or exception like '%SocketException%'
                or exception like '%ConnectException%'
                or exception like '%EOFException%'
                then 'connection_failed'
            when exception like '%FETCH_SESSION%' then 'session_lost'
            else 'other'
        end as error_kind
    from errors
),

placed as (
    {{ placed('judged') }}
),

-- A fetcher that its own node stops has not failed.
final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        source_node_id,
        fetcher_id,
        hour_at,
        greatest(count_if(is_node_named), count_if(not is_node_named)) as disconnects,
        sort_array(collect_set(error_kind)) as error_kinds,
        min(logged_at) as first_at,
        max(logged_at) as last_at,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed
    where error_kind <> 'stopped'
    group by cluster_id, cluster_incarnation, node_id, source_node_id, fetcher_id, hour_at
)

select * from final
