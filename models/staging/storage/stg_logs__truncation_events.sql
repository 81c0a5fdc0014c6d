with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        topic_name,
        partition_id,
        -- What was cut; why a follower cuts; where a log ended before.
        case
            when {{ has_role(['follower_truncation', 'truncation_reason']) }} then 'reason'
            when {{ has_role(['log_load', 'follower_start']) }} then 'log_end'
            when {{ has_role('offset_reset') }} then 'reset'
            else 'cut'
        end as statement_kind,
        coalesce(
            {{ field('to_offset', 'bigint') }},
            case
                when {{ has_role('follower_truncation') }}
                    then {{ field('high_watermark', 'bigint') }}
                when {{ has_role('log_restart') }} then {{ field('log_start_offset', 'bigint') }}
                when {{ has_role('truncation_reason') }} then {{ field('end_offset', 'bigint') }}
            end
        ) as to_offset,
        case
            when {{ has_role('log_load') }} then {{ field('log_end_offset', 'bigint') }}
            when {{ has_role('follower_start') }} then {{ field('start_offset', 'bigint') }}
            when {{ has_role('offset_reset') }} then {{ field('offset_before', 'bigint') }}
        end as log_end_offset,
        {{ field('leader_epoch', 'int') }} as leader_epoch,
        case
            when
                {{ has_role(['follower_truncation', 'truncation_below_high_watermark']) }}
                then {{ field('high_watermark', 'bigint') }}
        end as high_watermark
    from events
    where
        {{ has_role([
            'log_truncation',
            'log_restart',
            'segment_corruption',
            'offset_reset',
            'follower_truncation',
            'truncation_reason',
            'follower_start',
            'log_load',
            'truncation_below_high_watermark',
        ]) }}
        and topic_name is not null
        and partition_id is not null
)

select * from final
