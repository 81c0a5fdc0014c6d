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
-- refused.
followed as (
    select
        *,
        lead(statement_kind) over (leader_lines) as next_kind,
        lead(logged_at) over (leader_lines) as next_logged_at,
        min(
            case
                when
                    {{ has_role('isr_update') }}
                    and partition_epoch is not null
                    then logged_at
            end
        ) over (partition by cluster_id, node_id) as stored_since
    from isr_changes
    window leader_lines as (
        partition by cluster_id, node_id, topic_name, partition_id
        order by logged_at, source_path, byte_offset
    )
),

-- Up to 2.6 a leader that was refused says so in its next line, within its request to ZooKeeper.
stood as (
    select *
    from followed
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
