with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

leaderless_windows as (
    select * from {{ ref('fct_leaderless_windows') }}
),

-- The last leader before each election, and since when it had led; if epochs are missing, the last one that is known.
followed as (
    select
        *,
        last_value(
            case when leader_id >= 0 then struct(leader_id, elected_at) end, true
        ) over (
            partition by cluster_id, topic_key, partition_id
            order by leader_epoch
            rows between unbounded preceding and 1 preceding
        ) as last_led
    from elections
),

-- The controller that found no leader for the partition.
left_without as (
    select
        windows.*,
        followed.controller_id,
        coalesce(nullif(windows.last_leader_id, -1), followed.last_led.leader_id) as left_by_id,
        followed.last_led
    from leaderless_windows as windows
    left join followed
        on
            windows.cluster_id = followed.cluster_id
            and windows.topic_key = followed.topic_key
            and windows.partition_id = followed.partition_id
            and windows.started_at = followed.elected_at
            and followed.is_leaderless
),

final as (
    -- If no leader followed at once, the leaderless window is the event; topics that are being deleted have none.
    select
        {{
            incident_fact(
                'fct_leader_elections', 'leader_election_key', "'leader_lost'", 'elected_at', 'elected_at',
                nodes='array(previous_leader_id)', topic='topic_name', partition='partition_id',
                held='if(last_led.leader_id = previous_leader_id, last_led.elected_at, null)',
                burst='previous_leader_id'
            )
        }}
    from followed
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
                nodes='array_compact(array(left_by_id))', other='controller_id', topic='topic_name', partition='partition_id',
                held='if(last_led.leader_id = left_by_id, last_led.elected_at, null)', duration='duration_ms', burst='left_by_id'
            )
        }}
    from left_without
)

select * from final
