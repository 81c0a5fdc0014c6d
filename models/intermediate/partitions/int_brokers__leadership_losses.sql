with shutdown_events as (
    select * from {{ ref('stg_logs__shutdown_events') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

runs as (
    select *
    from {{ ref('int_nodes__runs') }}
    where is_kraft and stopping_at is not null
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('shutdown_events') }}
),

-- The broker logs its request, and again when it may stop; a request that is not granted moves no leaders.
answered as (
    select
        *,
        {{ has_role('own_shutdown_request') }}
        and not coalesce(lead({{ has_role('own_shutdown_grant') }}) over (own_lines), false)
            as is_in_vain,
        lead(logged_at) over (own_lines) as answered_at
    from placed
    window own_lines as (
        partition by
            cluster_id,
            cluster_incarnation,
            node_id,
            {{ has_role(['own_shutdown_request', 'own_shutdown_grant']) }}
        order by logged_at, byte_offset
    )
),

-- A request may wait for a controller: if one logs that it received it, that is the time.
asked as (
    select answered.*
    from answered
    left anti join placed
        on
            {{ has_role('own_shutdown_request', 'answered.event_type') }}
            and {{ has_role('kraft_shutdown_request', 'placed.event_type') }}
            and answered.cluster_id = placed.cluster_id
            and answered.cluster_incarnation = placed.cluster_incarnation
            and answered.node_id = placed.broker_id
            and answered.logged_at <= placed.logged_at
            and answered.answered_at >= placed.logged_at
    where not answered.is_in_vain
),

-- A process that stops may end its log before its roles stop: then a grant is assumed.
cut_off as (
    select runs.*
    from runs
    left anti join placed
        on
            runs.cluster_id = placed.cluster_id
            and runs.node_id = placed.node_id
            and {{ has_role('own_shutdown_request', 'placed.event_type') }}
            and placed.logged_at >= runs.stopping_at - interval 10 seconds
            and placed.logged_at <= runs.stopping_at + interval 1 minute
),

-- In KRaft a broker loses its leaderships when it is fenced, and in a controlled shutdown when it
-- asks for it and when it may go: partitions that nobody can take over are then without a leader.
final as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        logged_at as lost_at,
        node_id,
        source_path,
        byte_offset
    from fencings
    union all
    select
        cluster_id,
        cluster_incarnation,
        coalesce(broker_id, node_id) as broker_id,
        logged_at as lost_at,
        node_id,
        source_path,
        byte_offset
    from asked
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id as broker_id,
        stopping_at as lost_at,
        node_id,
        final_line.source_path,
        final_line.byte_offset
    from cut_off
)

select * from final
