-- No fact lists more records than it counts, more than ten, or fewer than it has up to ten.
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

all_facts as (
    select
        'fct_controller_tenures' as fact,
        controller_tenure_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from controller_tenures
    union all
    select
        'fct_epoch_gaps' as fact,
        epoch_gap_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from epoch_gaps
    union all
    select
        'fct_leader_elections' as fact,
        leader_election_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from leader_elections
    union all
    select
        'fct_leaderless_windows' as fact,
        leaderless_window_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from leaderless_windows
    union all
    select
        'fct_offsets_topic_growth_hourly' as fact,
        offsets_topic_growth_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from offsets_topic_growth_hourly
    union all
    select
        'fct_session_expiries' as fact,
        session_expiry_key as fact_key,
        evidence_count,
        size(evidence) as evidence_listed
    from session_expiries
),

final as (
    select
        fact,
        fact_key,
        evidence_count,
        evidence_listed
    from all_facts
    where
        evidence_listed is null
        or evidence_count is null
        or evidence_count < evidence_listed
        or evidence_listed <> least(evidence_count, 10)
)

select * from final
