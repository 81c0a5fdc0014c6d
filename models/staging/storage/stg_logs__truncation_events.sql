with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        -- What was cut; why a follower cuts; where a log ended before.
        case
            when
                event_type in ('follower_truncated', 'follower_truncation_reasoned')
                then 'reason'
            when event_type in ('log_loaded', 'follower_started') then 'log_end'
            when event_type = 'fetch_offset_reset' then 'reset'
            else 'cut'
        end as telling_kind,
        coalesce(
            {{ field('to_offset', 'bigint') }},
            case
                when event_type = 'follower_truncated' then {{ field('high_watermark', 'bigint') }}
                when event_type = 'log_restarted' then {{ field('log_start_offset', 'bigint') }}
                when
                    event_type = 'follower_truncation_reasoned'
                    then {{ field('end_offset', 'bigint') }}
            end
        ) as to_offset,
        case event_type
            when 'log_loaded' then {{ field('log_end_offset', 'bigint') }}
            when 'follower_started' then {{ field('start_offset', 'bigint') }}
            when 'fetch_offset_reset' then {{ field('offset_before', 'bigint') }}
        end as log_end_offset,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        case
            when
                event_type in ('follower_truncated', 'log_truncated_below_high_watermark')
                then {{ field('high_watermark', 'bigint') }}
        end as high_watermark
    from events
    where
        event_type in (
            'log_truncated',
            'log_truncated_below_high_watermark',
            'log_restarted',
            'segment_corruption_found',
            'fetch_offset_reset',
            'follower_truncated',
            'follower_truncation_reasoned',
            'follower_started',
            'log_loaded'
        )
        and topic_name is not null
        and partition_id is not null
)

select * from final
