{%- set floor = var('growth_abnormal_segments') ~ ' * segment_bytes' -%}
{%- set ratio = var('growth_abnormal_ratio') -%}
with hours as (
    select * from {{ ref('int_offsets__growth_compared') }}
),

-- Out of line is what grew by several segments more, and several times as much, as what it is compared with.
judged as (
    select
        *,
        nullif(
            concat_ws(
                '; ',
                case
                    when
                        siblings > 2
                        and growth_24h > {{ ratio }} * greatest(sibling_growth_24h, 0)
                        and growth_24h - greatest(sibling_growth_24h, 0) > {{ floor }}
                        then concat(
                            'grew by ',
                            growth_24h,
                            ' bytes in 24 hours, the median partition of the node by ',
                            sibling_growth_24h
                        )
                end,
                case
                    when
                        growth_24h > {{ ratio }} * greatest(replica_growth_24h, 0)
                        and growth_24h - greatest(replica_growth_24h, 0) > {{ floor }}
                        then concat(
                            'grew by ',
                            growth_24h,
                            ' bytes in 24 hours, its replicas on other nodes by ',
                            replica_growth_24h
                        )
                end,
                case
                    when
                        past_hours >= 24
                        and growth_24h > {{ ratio }} * greatest(past_growth_24h, 0)
                        and growth_24h - greatest(past_growth_24h, 0) > {{ floor }}
                        then concat(
                            'grew by ',
                            growth_24h,
                            ' bytes in 24 hours, in the week before by at most ',
                            past_growth_24h
                        )
                end
            ),
            ''
        ) as abnormal_reason
    from hours
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id', 'hour_at']) }}
            as offsets_topic_growth_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        bytes_at_end,
        bytes_growth,
        if(last_measured_bytes is null, 'estimated', 'measured') as measure_kind,
        cast(segments_rolled as int) as segments_rolled,
        cast(segments_deleted as int) as segments_deleted,
        cast(cleaner_runs as int) as cleaner_runs,
        failed_tombstones,
        longest_load_ms,
        cast(floor((unix_seconds(hour_at) + 3600 - unix_seconds(last_cleaned_at)) / 3600) as int)
            as hours_since_clean,
        abnormal_reason is not null as is_abnormal,
        abnormal_reason,
        evidence,
        evidence_count,
        {{
            warnings({
                'the segment size is the default, not read from the configuration':
                    'last_measured_bytes is null and not is_segment_size_known',
                'the growth is estimated, the size is measured once':
                    'last_measured_bytes is not null and measured_growth is null',
                'no record in the hour: the last one before holds': 'is_carried',
                'concluded: the unit of du, from its numbers': 'is_unit_concluded'
            })
        }} as warnings
    from judged
)

select * from final
