with coordinators as (
    select * from {{ ref('int_groups__coordinators') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

stretches as (
    select
        * except (valid_from, valid_to),
        valid_from as started_at,
        valid_to as ended_at
    from coordinators
),

ended as (
    {{ ended_with_incarnation('stretches') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'started_at', 'coordinator_id'
            ])
        }} as group_coordinator_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('coordinator_id') }} as node_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        group_id,
        coordinator_id,
        known_by,
        started_at,
        ended_at,
        {{ stretch() }},
        cast(started_at as date) as started_date,
        evidence,
        evidence_count,
        {{
            warnings({
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'the record does not name the group': 'group_id is null',
                'election not in the logs: started_at is the first record that names the coordinator': "known_by <> 'election'",
                'first in the logs: the election may be earlier than started_at': 'is_first_in_logs',
                'dated by the last change of the file: its text names no time': 'coalesce(is_dated_by_file, false)'
            })
        }} as warnings
    from ended
)

select * from final
