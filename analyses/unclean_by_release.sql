with elections as (
    select
        cluster_key,
        cluster_id,
        elected_at,
        leader_election_key
    from {{ ref('fct_leader_elections') }}
    where is_unclean
)

select
    coalesce(releases.cluster_id, elections.cluster_id) as cluster_id,
    releases.kafka_version,
    releases.is_mixed,
    releases.valid_from,
    releases.valid_to,
    count(elections.leader_election_key) as unclean_elections
from {{ ref('dim_cluster_releases') }} as releases
full outer join elections
    on
        releases.cluster_key = elections.cluster_key
        and releases.valid_from <= elections.elected_at
        and (releases.valid_to is null or releases.valid_to > elections.elected_at)
where
    {{ question_filter(
        cluster='coalesce(releases.cluster_id, elections.cluster_id)',
        start='coalesce(releases.valid_from, elections.elected_at)',
        end='coalesce(releases.valid_to, elections.elected_at)'
    ) }}
group by
    coalesce(releases.cluster_id, elections.cluster_id),
    releases.kafka_version,
    releases.is_mixed,
    releases.valid_from,
    releases.valid_to
order by cluster_id, releases.valid_from nulls first
