with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

-- The controller that found no leader for the partition.
left_without as (
    select
        windows.*,
        elections.controller_id
    from leaderless_windows as windows
    left join elections
        on
            windows.cluster_id = elections.cluster_id
            and windows.topic_key = elections.topic_key
            and windows.partition_id = elections.partition_id
            and windows.started_at = elections.elected_at
            and elections.is_leaderless
),

final as (
    -- If no leader followed at once, the leaderless window is the event; topics that are being deleted have none.
    select
        {{
            incident_fact(
                'fct_leader_elections', 'leader_election_key', "'leader_lost'", 'elected_at', 'elected_at',
                nodes='array(previous_leader_id)', topic='topic_name', partition='partition_id',
                burst='previous_leader_id'
            )
        }}
    from elections
    where election_kind = 'leader_lost' and previous_leader_id >= 0 and leader_id >= 0
    union all
    select
        {{
            incident_fact(
                'fct_leader_elections', 'leader_election_key', "'unclean_election'", 'elected_at', 'elected_at',
                nodes='array(leader_id)', topic='topic_name', partition='partition_id', burst='leader_id'
            )
        }}
    from elections
    where is_unclean and leader_id >= 0
    union all
    select
        {{
            incident_fact(
                'fct_leader_elections', 'leader_election_key', "'leaders_returned'", 'elected_at', 'elected_at',
                nodes='array(leader_id)', topic='topic_name', partition='partition_id', burst='leader_id'
            )
        }}
    from elections
    where election_kind = 'preferred' and leader_id >= 0
    union all
    select
        {{
            incident_fact(
                'fct_leaderless_windows', 'leaderless_window_key', "'leaderless'", 'started_at', 'ended_at',
                nodes='case when last_leader_id >= 0 then array(last_leader_id) else array() end',
                other='controller_id', topic='topic_name', partition='partition_id', duration='duration_ms', burst='last_leader_id'
            )
        }}
    from left_without
)

select * from final
