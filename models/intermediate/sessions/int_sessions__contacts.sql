with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
    where session_id is not null
),

followed as (
    select
        *,
        logged_at - make_dt_interval(0, 0, 0, elapsed_ms / 1000.0) as waited_from,
        lag(logged_at) over (
            partition by cluster_id, session_id order by logged_at, source_path, byte_offset
        ) as previous_at
    from session_events
    where {{ has_role(['session_start', 'session_timeout']) }}
),

-- While a client connects again it counts from the beginning of each attempt, and some releases
-- print a time-out twice: only the first time-out of a connection tells when the server was last
-- heard. After ten minutes without a record a part of the log may be missing.
numbered as (
    select
        *,
        sum(
            if(
                {{ has_role('session_start') }} or logged_at > previous_at + interval 10 minutes,
                1,
                0
            )
        ) over (
            partition by cluster_id, session_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as connection_number
    from followed
),

connections as (
    select
        cluster_id,
        session_id,
        connection_number,
        max(if({{ has_role('session_start') }}, logged_at, null)) as established_at,
        min(waited_from) as last_contact_at
    from numbered
    group by cluster_id, session_id, connection_number
),

contacts as (
    select
        cluster_id,
        session_id,
        max(established_at) as last_established_at,
        max_by(last_contact_at, connection_number) as last_contact_at
    from connections
    group by cluster_id, session_id
),

negotiated as (
    select
        cluster_id,
        session_id,
        max(timeout_ms) as timeout_ms
    from session_events
    group by cluster_id, session_id
),

final as (
    select
        negotiated.cluster_id,
        negotiated.session_id,
        negotiated.timeout_ms,
        contacts.last_established_at,
        contacts.last_contact_at
    from negotiated
    left join contacts
        on
            negotiated.cluster_id = contacts.cluster_id
            and negotiated.session_id = contacts.session_id
)

select * from final
