{{ config(meta={'at': 'hour_at'}) }}
{%- set floor = var('growth_abnormal_segments') ~ ' * segment_bytes' -%}
{%- set ratio = var('growth_abnormal_ratio') -%}
-- All windows over a partition's hours have one order, so that they are sorted once.
with reckoned as (
    select
        *,
        unix_seconds(hour_at) as hour_seconds
    from {{ ref('int_offsets__hours') }}
),

-- An hour is compared with 8 days before it, each hour of which looks back over a day, and at the hour before that has a record.
hours as (
    {{
        carried_in(
            'reckoned',
            at='hour_at',
            back='216 hours',
            key=['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id']
        )
    }}
),

followed as (
    select
        *,
        lag(hour_at) over (in_order) as previous_hour_at,
        lag(bytes_at_end) over (in_order) as previous_bytes,
        lag(last_measured_bytes) over (in_order) as previous_measured_bytes
    from hours
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id order by hour_seconds
    )
),

-- Measures are compared with the end of the hour before; where that is not measured, with the first of their own hour. What
-- came and went in hours that nobody recorded belongs to none of them.
measured as (
    select
        *,
        case
            when last_measured_bytes is null then null
            when
                previous_measured_bytes is not null
                and previous_hour_at = hour_at - interval 1 hour
                then last_measured_bytes - previous_measured_bytes
            when measures > 1 then last_measured_bytes - first_measured_bytes
        end as measured_growth
    from followed
),

grown as (
    select
        * except (previous_hour_at, previous_bytes, previous_measured_bytes),
        coalesce(
            measured_growth,
            case
                when previous_measured_bytes is null and last_measured_bytes is null
                    then bytes_at_end - previous_bytes
            end,
            bytes_turned_over
        ) as bytes_growth
    from measured
),

-- One row per node, offsets partition and hour, with its growth.
with_day as (
    select
        *,
        sum(bytes_growth) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_seconds
            range between 82800 preceding and current row
        ) as growth_24h
    from grown
),

-- A day of its past, and no older than a week before it. Hours are counted from the beginning: a count that slides is made
-- again for each row.
with_past as (
    select
        *,
        max(growth_24h) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_seconds
            range between 691200 preceding and 86400 preceding
        ) as past_growth_24h,
        count(*) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_seconds
            range between unbounded preceding and 86400 preceding
        ) as hours_until_yesterday,
        count(*) over (
            partition by cluster_id, cluster_incarnation, node_id, partition_id
            order by hour_seconds
            range between unbounded preceding and 691201 preceding
        ) as hours_of_older_past
    from with_day
),

siblings_compared as (
    select
        *,
        count(*) over (
            partition by cluster_id, cluster_incarnation, node_id, hour_at
        ) as siblings,
        percentile_approx(growth_24h, 0.5) over (
            partition by cluster_id, cluster_incarnation, node_id, hour_at
        ) as sibling_growth_24h,
        sort_array(
            collect_list(struct(node_id, growth_24h)) over (
                partition by cluster_id, cluster_incarnation, partition_id, hour_at
            )
        ) as replicas
    from with_past
),

replicas_compared as (
    select
        * except (replicas),
        filter(replicas, replica -> replica.node_id <> node_id).growth_24h as replica_growths
    from siblings_compared
),

-- One row per node, offsets partition and hour, with what its growth is compared with: its
-- siblings on the node, its replicas on other nodes, its own past.
-- The middle of what the other replicas grew by; of two, the lower.
compared as (
    select
        * except (replica_growths),
        get(sort_array(replica_growths), cast((size(replica_growths) - 1) div 2 as int))
            as replica_growth_24h
    from replicas_compared
),

-- Growth is abnormal if it exceeds what it is compared with by several segments and several times over.
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
                        hours_until_yesterday - hours_of_older_past >= 24
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
    from compared
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
                'segment size assumed to be the default':
                    'last_measured_bytes is null and not is_segment_size_known',
                'growth is estimated; the size was measured only once':
                    'last_measured_bytes is not null and measured_growth is null',
                'no record in this hour; carried over from the last one': 'is_carried',
                'concluded: the unit of du, from its numbers': 'is_unit_inferred'
            })
        }} as warnings
    from judged
    where {{ since('hour_at') }}
)

select * from final
