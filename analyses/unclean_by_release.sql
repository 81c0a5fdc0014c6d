select
    releases.cluster_id,
    releases.kafka_version,
    releases.is_mixed,
    releases.valid_from,
    releases.valid_to,
    count(elections.leader_election_key) as unclean_elections
from {{ ref('dim_cluster_releases') }} as releases
left join {{ ref('fct_leader_elections') }} as elections
    on
        releases.cluster_key = elections.cluster_key
        and elections.is_unclean
        and releases.valid_from <= elections.elected_at
        and (releases.valid_to is null or releases.valid_to > elections.elected_at)
where
    {{ question_filter(
        cluster='releases.cluster_id', start='releases.valid_from', end='releases.valid_to'
    ) }}
group by
    releases.cluster_id,
    releases.kafka_version,
    releases.is_mixed,
    releases.valid_from,
    releases.valid_to
order by releases.cluster_id, releases.valid_from
