with events as (
    select * from {{ ref('stg_logs__truncation_events') }}
),

-- The previous lines that say why and where the log ended; nothing is appended between the latter
-- and the cut.
reported as (
    select
        *,
        last_value(
            case
                when statement_kind = 'reason'
                    then struct(event_type, logged_at, to_offset, leader_epoch)
            end,
            true
        ) over (earlier) as reason,
        last_value(
            case
                when statement_kind in ('log_end', 'reset') then struct(logged_at, log_end_offset)
            end,
            true
        ) over (earlier) as log_end,
        max(case when statement_kind = 'cut' then logged_at end) over (earlier) as last_cut_at
    from events
    window earlier as (
        partition by cluster_id, node_id, topic_name, partition_id
        order by logged_at, source_path, byte_offset
        rows between unbounded preceding and 1 preceding
    )
),

cuts as (
    select
        *,
        statement_kind = 'reset' and to_offset >= log_end_offset as is_full_start,
        -- One cut can have two lines: that the offset was reset, or lies below the high watermark, and the cut itself.
        case
            when
                lag(to_offset) over (same_log) = to_offset
                and lag(logged_at) over (same_log) >= logged_at - interval 2 seconds
                then 0
            else 1
        end as is_first_line
    from reported
    where statement_kind in ('cut', 'reset') and to_offset is not null
    window same_log as (
        partition by cluster_id, node_id, topic_name, partition_id
        order by logged_at, source_path, byte_offset
    )
),

final as (
    select
        *,
        sum(is_first_line) over (
            partition by cluster_id, node_id, topic_name, partition_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as cut_number
    from cuts
)

select * from final
