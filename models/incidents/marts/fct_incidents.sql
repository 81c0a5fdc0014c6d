{{ config(meta={'at': 'started_at'}) }}

with summed as (
    select * from {{ ref('int_incidents__summed') }}
),

final as (
    select
        incident_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        started_at,
        ended_at,
        {{ stretch(last_seen='last_seen_at') }},
        cast(started_at as date) as started_date,
        is_maintenance,
        case
            when is_maintenance and nodes_stopped > 1 then 'rolling_restart'
            else root_cause_kind
        end as root_cause_kind,
        root_cause_key,
        concat(
            root_sentence,
            case
                when partitions_leaderless > 0
                    then concat(
                        ' ', partitions_leaderless,
                        if(partitions_leaderless = 1, ' partition', ' partitions'),
                        ' had no leader, for up to ',
                        {{ readable_duration('leaderless_max_ms') }}, '.'
                    )
                else ''
            end
        ) as summary,
        -- Each stop takes replicas out of sync; what it costs beyond that counts.
        case
            when is_maintenance and coalesce(severity, 'minor') = 'minor' then 'info'
            else coalesce(severity, 'minor')
        end as severity,
        nodes,
        cast(partitions_affected as bigint) as partitions_affected,
        leaderless_ms,
        cast(under_min_isr_ms as bigint) as under_min_isr_ms,
        groups,
        cast(size(groups) as bigint) as groups_affected,
        evidence,
        evidence_count,
        {{
            warnings({
                'no fact shows the cause: this is the earliest symptom':
                    "not is_maintenance and root_event_kind in "
                    "('session_expired', 'leader_lost', 'leaderless', 'quorum_lost', 'isr_shrunk', 'isr_lost', 'stale_node', 'fetch_disconnects', 'writes_refused')",
                'min.insync.replicas is unknown for some partitions that lost replicas: the time below it is null or leaves them out': 'partitions_without_minimum > 0',
                'the replicas or min.insync.replicas of some partitions are known only from later records: the time below it takes them as they were then': 'partitions_known_later > 0',
                'concluded: each of the two nodes found the other out of sync, and neither stood still': "root_event_kind = 'network_cut'",
                'some partitions still have no leader at the end of the logs, up to which their time counts': 'leaderless_open > 0'
            })
        }} as warnings
    from summed
)

select * from final
