with isr_changes as (
    select * from {{ ref('stg_logs__isr_changes') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- From 2.4 on a leader logs that the set was stored, so its proposal is not a statement of its own; the first ones may all be
-- refused. A node that logs none is taken to be of the release of the others.
dated as (
    select
        *,
        min(
            case
                when
                    {{ has_role('isr_update') }}
                    and partition_epoch is not null
                    then logged_at
            end
        ) over (partition by cluster_id, node_id) as node_stored_since
    from isr_changes
),

followed as (
    select
        *,
        lead(statement_kind) over (leader_lines) as next_kind,
        lead(logged_at) over (leader_lines) as next_logged_at,
        coalesce(node_stored_since, min(node_stored_since) over (partition by cluster_id))
            as stored_since
    from dated
    window leader_lines as (
        partition by cluster_id, node_id, topic_name, partition_id
        order by logged_at, source_path, byte_offset
    )
),

failures as (
    select * from isr_changes
    where {{ has_role('isr_task_failure') }}
),

-- One row per failure of a node's task that shrinks sets: the last change that it had announced, at whose write it stopped.
failed as (
    select
        failures.cluster_id,
        failures.node_id,
        max(
            struct(isr_changes.logged_at, isr_changes.source_path, isr_changes.byte_offset)
        ) as line
    from failures
    inner join isr_changes
        on
            failures.cluster_id = isr_changes.cluster_id
            and failures.node_id = isr_changes.node_id
            and isr_changes.statement_kind = 'proposed'
            and size(isr_changes.isr) < size(isr_changes.isr_before)
            and struct(isr_changes.logged_at, isr_changes.source_path, isr_changes.byte_offset)
            < struct(failures.logged_at, failures.source_path, failures.byte_offset)
    group by
        failures.cluster_id,
        failures.node_id,
        failures.logged_at,
        failures.source_path,
        failures.byte_offset
),

-- Up to 2.6 a leader that was refused says so in its next line, within its request to ZooKeeper.
stood as (
    select followed.*
    from followed
    left anti join failed
        on
            followed.cluster_id = failed.cluster_id
            and followed.node_id = failed.node_id
            and followed.logged_at = failed.line.logged_at
            and followed.source_path = failed.line.source_path
            and followed.byte_offset = failed.line.byte_offset
    where
        isr is not null
        and (
            statement_kind = 'stored'
            or (
                (stored_since is null or logged_at < stored_since - interval 10 minutes)
                and not (
                    coalesce(next_kind = 'rejected', false)
                    and next_logged_at < logged_at + interval 30 seconds
                )
            )
        )
),

placed as (
    {{ placed('stood') }}
),

final as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset,
        placed.statement_kind,
        placed.leader_epoch,
        placed.partition_epoch,
        placed.isr_before,
        placed.isr
    from placed
    left join lives on {{ placed_in_life('placed') }}
)

select * from final
