with lines as (
    select * from {{ ref('int_logs__truncation_lines') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

runs as (
    select * from {{ ref('int_nodes__runs_ended') }}
    where end_kind in ('killed', 'fatal')
),

reasoned as (
    select
        *,
        coalesce(
            reason.to_offset = to_offset and reason.logged_at >= logged_at - interval 5 seconds,
            false
        ) as has_reason,
        case
            when
                log_end.logged_at >= logged_at - interval 1 minute
                and log_end.log_end_offset >= to_offset
                and coalesce(last_cut_at <= log_end.logged_at, true)
                then log_end.log_end_offset
        end as log_end_before
    from lines
),

placed as (
    {{ placed('reasoned') }}
),

truncations as (
    select
        cluster_id,
        min(cluster_incarnation) as cluster_incarnation,
        node_id,
        topic_name,
        partition_id,
        cut_number,
        min(logged_at) as truncated_at,
        to_offset,
        coalesce(
            max(case when statement_kind = 'reset' then log_end_offset end), max(log_end_before)
        )
            as from_offset,
        max(case when has_reason then reason.leader_epoch end) as leader_epoch,
        max(
            has_reason
            and {{ has_role('follower_truncation', 'reason.event_type') }}
            and reason.leader_epoch is null
        ) as is_to_high_watermark,
        max(has_reason) as has_reason,
        max({{ has_role('segment_corruption') }}) as is_recovery,
        max(statement_kind = 'reset') as is_reset,
        max(coalesce(is_full_start, false) or {{ has_role('log_restart') }}) as is_full_start,
        max(high_watermark) as high_watermark,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed
    group by cluster_id, node_id, topic_name, partition_id, cut_number, to_offset
),

-- A cut is logged when it begins.
final as (
    select
        truncations.*,
        runs.run_number is not null as is_in_hand
    from truncations
    left join runs
        on
            truncations.cluster_id = runs.cluster_id
            and truncations.node_id = runs.node_id
            and truncations.truncated_at <= runs.stopped_at
            and truncations.truncated_at + interval 1 second > runs.stopped_at
)

select * from final
