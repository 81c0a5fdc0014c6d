with coordinators as (
    select * from {{ ref('int_groups__coordinators') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'valid_from', 'coordinator_id'
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
        valid_from,
        valid_to,
        cast(valid_from as date) as valid_from_date,
        unix_millis(valid_to) - unix_millis(valid_from) as duration_ms,
        evidence,
        evidence_count,
        {{
            warnings({
                'the record does not name the group': 'group_id is null',
                'election not in the logs: valid_from is the first record that names the coordinator': "known_by <> 'election'",
                'first in the logs: the election may be earlier than valid_from': 'is_first_in_logs',
                'dated by the last change of the file: its text names no time': 'coalesce(is_dated_by_file, false)'
            })
        }} as warnings
    from coordinators
)

select * from final
