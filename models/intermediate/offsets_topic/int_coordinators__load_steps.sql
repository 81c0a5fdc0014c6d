with load_events as (
    select * from {{ ref('stg_logs__coordinator_load_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

placed_events as (
    {{ placed('load_events') }}
),

lives as (
    select
        cluster_id,
        node_id,
        run_number,
        first_seen_at,
        lead(first_seen_at) over (partition by cluster_id, node_id order by run_number)
            as next_seen_at,
        fell_silent_at,
        coalesce(stopped_at, stopping_at, failed_at) as logged_end_at
    from runs
),

-- An order to unload does not end a load that is under way: the same thread finishes it first.
stepped as (
    select
        placed_events.*,
        lives.run_number,
        coalesce(
            lives.logged_end_at,
            case when lives.next_seen_at is not null then lives.fell_silent_at end
        ) as process_ended_at,
        case
            when {{ has_role('coordinator_unload_order') }} then 'leaving'
            when {{ has_role('coordinator_load_cancellation') }} then 'cancelled'
            when {{ has_role('coordinator_load_end') }} then 'completed'
            when {{ has_role('coordinator_load_confirmation') }} then 'confirmed'
            when {{ has_role('coordinator_load_skip') }} then 'skipped'
            when {{ has_role('coordinator_load_failure') }} then 'failed'
            else 'started'
        end as step
    from placed_events
    left join lives
        on
            placed_events.cluster_id = lives.cluster_id
            and placed_events.node_id = lives.node_id
            and placed_events.logged_at >= lives.first_seen_at
            and (lives.next_seen_at is null or placed_events.logged_at < lives.next_seen_at)
),

turned as (
    select
        *,
        last_value(
            case when step in ('started', 'completed', 'failed', 'cancelled') then step end, true
        ) over (
            partition by
                cluster_id, cluster_incarnation, node_id, topic_name, partition_id, run_number
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as turn_before
    from stepped
),

-- A node never loads a partition twice at once: a start while one is under way is the same load.
final as (
    select
        * except (turn_before),
        -- Records after the end do not belong to the load.
        step in ('started', 'completed', 'failed')
        or (step in ('cancelled', 'confirmed', 'leaving') and coalesce(turn_before, '') = 'started')
        or (step = 'confirmed' and coalesce(turn_before, '') = 'completed') as is_part,
        count_if(
            step in ('started', 'completed', 'failed') and coalesce(turn_before, '') <> 'started'
        ) over (
            partition by
                cluster_id, cluster_incarnation, node_id, topic_name, partition_id, run_number
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as load_number
    from turned
)

select * from final
