-- Each fact that is harm is part of an incident, and an incident's time without a leader is that of the windows that lead to it.
with bridge as (
    select * from {{ ref('bridge_incident_facts') }}
),

incidents as (
    select * from {{ ref('fct_incidents') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

harmful as (
    select leaderless_window_key as fact_key
    from leaderless_windows
    union all
    select session_expiry_key as fact_key
    from {{ ref('fct_session_expiries') }}
    where expired_at is not null and session_kind in ('zookeeper_broker', 'kraft_broker')
    union all
    select log_cleaner_outage_key as fact_key
    from {{ ref('fct_log_cleaner_outages') }}
    union all
    select offsets_topic_growth_hourly_key as fact_key
    from {{ ref('fct_offsets_topic_growth_hourly') }}
    where is_abnormal
    union all
    select write_refusals_hourly_key as fact_key
    from {{ ref('fct_write_refusals_hourly') }}
    union all
    select leader_election_key as fact_key
    from {{ ref('fct_leader_elections') }}
    where is_unclean and leader_id >= 0
    union all
    select epoch_gap_key as fact_key
    from {{ ref('fct_epoch_gaps') }}
    where gap_kind = 'stale_node' and epoch_kind = 'leader' and node_id is not null
    union all
    select log_dir_failure_key as fact_key
    from {{ ref('fct_log_dir_failures') }}
),

lacking as (
    select harmful.fact_key
    from harmful
    left anti join bridge on harmful.fact_key = bridge.fact_key
),

leaderless as (
    select
        bridge.incident_key,
        sum(leaderless_windows.duration_so_far_ms) as leaderless_ms
    from bridge
    inner join leaderless_windows
        on
            bridge.fact_key = leaderless_windows.leaderless_window_key
            and bridge.fact_name = 'fct_leaderless_windows'
    group by bridge.incident_key
),

differing as (
    select incidents.incident_key as fact_key
    from incidents
    left join leaderless on incidents.incident_key = leaderless.incident_key
    where incidents.leaderless_ms <> coalesce(leaderless.leaderless_ms, 0)
),

final as (
    select fact_key from lacking
    union all
    select fact_key from differing
)

select * from final
