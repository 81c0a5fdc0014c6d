with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

-- A broker knows an epoch when it receives or begins it; a controller, within its term, when it orders or sends it.
words as (
    select
        *,
        case
            when {{ has_role('controller_statement') }} then controller_epoch
        end as term_epoch
    from claims
    where
        node_id is not null
        and reported_by in ('controller_log', 'state_change_log', 'broker_log', 'metadata_cache')
        and not {{ has_role('partition_creation') }}
        and (reported_by <> 'controller_log' or controller_epoch is not null)
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        leader_epoch,
        min(logged_at) as reached_at,
        min_by(leader_id, struct(logged_at, source_path, byte_offset))
        filter (where leader_id is not null) as leader_id,
        min(struct(logged_at, node_id, source_path, byte_offset)) as line,
        max(reported_by = 'metadata_cache') as is_cached
    from words
    group by all
)

select * from final
