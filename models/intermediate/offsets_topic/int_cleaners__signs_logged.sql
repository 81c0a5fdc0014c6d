with cleaner_events as (
    select * from {{ ref('stg_logs__cleaner_events') }}
),

lifecycle_events as (
    select * from {{ ref('int_nodes__starts') }}
),

reported as (
    select
        cluster_id,
        node_id,
        process_name,
        logged_at as signed_at,
        case
            when {{ has_role('cleaner_start') }} then 'restarted'
            when {{ has_role('cleaner_stop') }} then 'stopping'
            when {{ has_role('cleaner_thread_end') }} then 'dead'
            when {{ has_role('uncleanable_partition') }} then 'uncleanable'
            when {{ has_role('cleaning_horizon') }} then 'at_work'
            else 'alive'
        end as sign,
        case
            when {{ has_role(['cleaning_start', 'cleaning_horizon']) }} then 'cleaning_begun'
            when {{ has_role('cleaning_end') }} then 'cleaning'
            else 'thread_error'
        end as reported_by,
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
        cast(null as string) as process_name,
        logged_at as signed_at,
        lifecycle_step as sign,
        'process' as reported_by,
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
                when reported_by = 'process' and sign <> 'stopping' then sign
                when
                    reported_by = 'thread_error' and sign in ('restarted', 'alive')
                    then 'restarted'
            end,
            true
        ) over (
            partition by cluster_id, node_id, process_name
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as turn_before
    from reported
),

-- A process that has started has a cleaner; its start counts if the cleaner's own log does not
-- report one.
final as (
    select
        cluster_id,
        node_id,
        process_name,
        signed_at,
        if(sign = 'started', 'restarted', sign) as sign,
        reported_by,
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
