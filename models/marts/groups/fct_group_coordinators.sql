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
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'group_id']) }} as group_key,
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
                'the line names no group': 'group_id is null',
                'no election is known, it was one at least from when it was named': "known_by <> 'election'"
            })
        }} as warnings
    from coordinators
)

select * from final
