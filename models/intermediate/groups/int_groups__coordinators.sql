{{ config(materialized='table') }}

with claims as (
    select * from {{ ref('int_groups__coordinator_claims') }}
),

-- Consecutive claims of the same node are one stretch.
numbered as (
    select
        *,
        sum(
            case
                when claim_number > 1 and coordinator_id <=> previous_coordinator_id then 0
                else 1
            end
        ) over (
            partition by cluster_id, cluster_incarnation, group_id
            order by claim_number
            rows between unbounded preceding and current row
        ) as stretch_number
    from claims
),

stretches as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        stretch_number,
        min(coordinator_id) as coordinator_id,
        min_by(known_by, claim_number) as known_by,
        min_by(is_first_in_logs, claim_number) as is_first_in_logs,
        min_by(is_dated_by_file, claim_number) as is_dated_by_file,
        min(seen_at) as valid_from,
        slice(
            flatten(
                transform(
                    sort_array(collect_list(struct(claim_number, evidence))),
                    claim -> claim.evidence
                )
            ),
            1,
            10
        ) as evidence,
        sum(evidence_count) as evidence_count
    from numbered
    group by cluster_id, cluster_incarnation, group_id, stretch_number
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        coordinator_id,
        known_by,
        is_first_in_logs,
        is_dated_by_file,
        valid_from,
        lead(valid_from) over (
            partition by cluster_id, cluster_incarnation, group_id order by stretch_number
        ) as valid_to,
        evidence,
        evidence_count
    from stretches
)

select * from final
