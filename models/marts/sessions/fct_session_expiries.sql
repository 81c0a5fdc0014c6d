{{ config(meta={'at': 'expired_at'}) }}

with sessions as (
    select * from {{ ref('int_sessions__expiries_explained') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'session_kind', 'owner', 'session_id', 'expired_at', 'noticed_at'
            ])
        }} as session_expiry_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        dead_run_key as node_run_key,
        cluster_id,
        cluster_incarnation,
        session_kind,
        owner,
        node_id,
        '0x' || session_id as session_id,
        timeout_ms,
        last_contact_at,
        expired_at,
        cast(expired_at as date) as expired_date,
        noticed_at,
        reconnected_at,
        reconnected_at is null as is_open,
        coalesce(reconnected_at, greatest(observed.last_seen_at, expired_at)) as observed_until,
        if(
            reconnected_at >= coalesce(last_contact_at, expired_at),
            unix_millis(reconnected_at) - unix_millis(coalesce(last_contact_at, expired_at)),
            null
        ) as unavailable_ms,
        if(
            coalesce(reconnected_at, greatest(observed.last_seen_at, expired_at))
            >= coalesce(last_contact_at, expired_at),
            unix_millis(coalesce(reconnected_at, greatest(observed.last_seen_at, expired_at)))
            - unix_millis(coalesce(last_contact_at, expired_at)),
            null
        ) as unavailable_so_far_ms,
        was_controller,
        case
            when dead_run_number is not null then 'process_death'
            when cause_rank = 1 then 'gc_pause'
            when cause_rank is not null then 'process_stall'
            when is_server_silent then 'network'
            else 'unknown'
        end as cause_kind,
        coalesce(dead_run_key, stop_key) as cause_key,
        end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'ZooKeeper did not log the expiry: its time is derived': 'not is_end_logged',
                'the ZooKeeper server that logged the expiry lost its leadership at once':
                    'is_end_doubtful',
                'the broker had stopped; the session that it left kept its next process from registering':
                    'is_left_behind',
                'owner unknown': "owner like 'session 0x%'",
            'the process prints several client ids': 'has_several_clients',
                'only the claim of a controller shows it: the record of the fencing is missing':
                    'is_unconfirmed',
                'other records show that it was back before': 'is_back_before',
                'its log lacks the beginning of the session: its process may have stood still':
                    'is_begin_missing and dead_run_number is null and cause_rank is null and is_server_silent',
                'it did not come back within ten minutes: it may have been restarted, and not have stalled':
                    'dead_run_number is null and cause_rank = 2 and not coalesce(reconnected_at <= expired_at + interval 10 minutes, false)',
                'the process that stalled is ZooKeeper':
                    'dead_run_number is null and cause_rank = 3',
                'the process that stalled is the controller':
                    'dead_run_number is null and cause_rank = 4'
            })
        }} as warnings
    from sessions
    left join observed using (cluster_id, cluster_incarnation)
)

select * from final
