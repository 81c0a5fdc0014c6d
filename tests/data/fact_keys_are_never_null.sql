-- Every row of every fact has its key.
with controller_tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

epoch_gaps as (
    select * from {{ ref('fct_epoch_gaps') }}
),

leader_elections as (
    select * from {{ ref('fct_leader_elections') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

offsets_topic_growth_hourly as (
    select * from {{ ref('fct_offsets_topic_growth_hourly') }}
),

session_expiries as (
    select * from {{ ref('fct_session_expiries') }}
),

parse_coverage_daily as (
    select * from {{ ref('fct_parse_coverage_daily') }}
),

sources as (
    select * from {{ ref('fct_sources') }}
),

all_facts as (
    select
        'fct_controller_tenures' as fact,
        controller_tenure_key as fact_key
    from controller_tenures
    union all
    select
        'fct_epoch_gaps' as fact,
        epoch_gap_key as fact_key
    from epoch_gaps
    union all
    select
        'fct_leader_elections' as fact,
        leader_election_key as fact_key
    from leader_elections
    union all
    select
        'fct_leaderless_windows' as fact,
        leaderless_window_key as fact_key
    from leaderless_windows
    union all
    select
        'fct_offsets_topic_growth_hourly' as fact,
        offsets_topic_growth_key as fact_key
    from offsets_topic_growth_hourly
    union all
    select
        'fct_session_expiries' as fact,
        session_expiry_key as fact_key
    from session_expiries
    union all
    select
        'fct_parse_coverage_daily' as fact,
        parse_coverage_key as fact_key
    from parse_coverage_daily
    union all
    select
        'fct_sources' as fact,
        source_key as fact_key
    from sources
),

final as (
    select
        fact,
        fact_key
    from all_facts
    where fact_key is null
)

select * from final
