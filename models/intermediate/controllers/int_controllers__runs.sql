with terms as (
    select * from {{ ref('int_controllers__terms') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

-- The run of the elected node that was the last to have begun.
final as (
    select
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch,
        max(struct(
            runs.run_number,
            runs.stopping_at,
            runs.stopped_at,
            runs.last_seen_at,
            runs.next_started_at
        )) as run
    from terms
    inner join runs
        on
            terms.cluster_id = runs.cluster_id
            and terms.controller_id = runs.node_id
            and terms.elected_at >= runs.first_seen_at
    group by
        terms.cluster_id,
        terms.cluster_incarnation,
        terms.epoch_kind,
        terms.controller_epoch
)

select * from final
