with cleaner_events as (
    select * from {{ ref('stg_logs__cleaner_events') }}
),

lifecycle_events as (
    select * from {{ ref('int_nodes__starts') }}
),

told as (
    select
        cluster_id,
        node_id,
        logged_at as signed_at,
        case
            when event_type = 'cleaner_started' then 'restarted'
            when event_type = 'cleaner_stopped' then 'stopping'
            when event_type in ('cleaner_thread_failed', 'cleaner_thread_stopped') then 'dead'
            when event_type = 'partition_marked_uncleanable' then 'uncleanable'
            when event_type = 'cleaning_horizon_set' then 'at_work'
            else 'alive'
        end as sign,
        case event_type
            when 'cleaning_started' then 'cleaning_begun'
            when 'cleaning_horizon_set' then 'cleaning_begun'
            when 'cleaning_completed' then 'cleaning'
            else 'thread_error'
        end as witness,
        cleaner_thread,
        nullif(concat_ws(': ', exception, exception_message), '') as cause,
        topic_name,
        partition_id,
        source_path,
        byte_offset
    from cleaner_events
    union all
    select
        cluster_id,
        node_id,
        logged_at as signed_at,
        lifecycle_step as sign,
        'process' as witness,
        null as cleaner_thread,
        null as cause,
        null as topic_name,
        null as partition_id,
        source_path,
        byte_offset
    from lifecycle_events
    where lifecycle_step in ('starting', 'started', 'stopping')
),

turned as (
    select
        *,
        last_value(
            case
                when witness = 'process' and sign <> 'stopping' then sign
                when witness = 'thread_error' and sign in ('restarted', 'alive') then 'restarted'
            end,
            true
        ) over (
            partition by cluster_id, node_id
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as turn_before
    from told
),

-- A process that has started has a cleaner; it counts where the cleaner's own log does not say so.
final as (
    select
        cluster_id,
        node_id,
        signed_at,
        if(sign = 'started', 'restarted', sign) as sign,
        witness,
        cleaner_thread,
        cause,
        topic_name,
        partition_id,
        source_path,
        byte_offset
    from turned
    where
        sign <> 'starting' and not (sign = 'started' and coalesce(turn_before, '') <> 'starting')
)

select * from final
