{{ config(meta={'at': 'hour_at'}) }}
{%- set ratio = var('growth_abnormal_ratio') -%}
with all_hours as (
    select * from {{ ref('int_offsets__hours') }}
),

surges as (
    select * from {{ ref('int_offsets__surges') }}
    where {{ since('hour_at') }}
),

hours as (
    select
        *,
        '__consumer_offsets' as topic_name
    from all_hours
    where {{ since('hour_at') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- One row per node and hour with a surge: the median growth of its offsets partitions.
siblings as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        hour_at,
        count(*) as siblings,
        percentile_approx(growth_24h, 0.5) as sibling_growth_24h
    from hours
    left semi join surges using (cluster_id, cluster_incarnation, node_id, hour_at)
    group by cluster_id, cluster_incarnation, node_id, hour_at
),

-- One row per surge: the growth of the replicas on other nodes.
replicas as (
    select
        surges.cluster_id,
        surges.cluster_incarnation,
        surges.node_id,
        surges.partition_id,
        surges.hour_at,
        sort_array(collect_list(struct(hours.growth_24h))) as replicas
    from surges
    inner join hours
        on
            surges.cluster_id = hours.cluster_id
            and surges.cluster_incarnation = hours.cluster_incarnation
            and surges.partition_id = hours.partition_id
            and surges.hour_at = hours.hour_at
            and surges.node_id <> hours.node_id
    group by all
),

-- The highest growth of a partition in the week that ends a day before each hour, for partitions
-- with a surge.
past as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        max(growth_24h) over (the_week_before) as past_growth_24h,
        count(*) over (the_week_before) as past_hours
    from all_hours
    left semi join surges using (cluster_id, cluster_incarnation, node_id, partition_id)
    where {{ since('hour_at', '192 hours') }}
    window the_week_before as (
        partition by cluster_id, cluster_incarnation, node_id, partition_id
        order by hour_at
        range between interval 192 hours preceding and interval 24 hours preceding
    )
),

-- One row per surge, with what its growth is compared with: its siblings on the node, its replicas
-- on other nodes, its own past.
-- Of the other replicas, the median growth; of two, the lower.
compared as (
    select
        surges.*,
        siblings.siblings,
        siblings.sibling_growth_24h,
        get(replicas.replicas, cast((size(replicas.replicas) - 1) div 2 as int)).growth_24h
            as replica_growth_24h,
        past.past_growth_24h,
        past.past_hours
    from surges
    left join siblings using (cluster_id, cluster_incarnation, node_id, hour_at)
    left join replicas using (cluster_id, cluster_incarnation, node_id, partition_id, hour_at)
    left join past using (cluster_id, cluster_incarnation, node_id, partition_id, hour_at)
),

-- Growth is abnormal if it exceeds what it is compared with by several segments and several times over.
judged as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        hour_at,
        nullif(
            concat_ws(
                '; ',
                case
                    when
                        siblings > 2
                        and growth_24h > {{ ratio }} * greatest(sibling_growth_24h, 0)
                        and growth_24h - greatest(sibling_growth_24h, 0) > floor_bytes
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
                        and growth_24h - greatest(replica_growth_24h, 0) > floor_bytes
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
                        and growth_24h - greatest(past_growth_24h, 0) > floor_bytes
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

placed as (
    {{ with_topic_incarnation('hours', at='hour_at') }}
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'node_id', 'partition_id', 'hour_at']) }}
            as offsets_topic_growth_hourly_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        topic_name,
        topic_incarnation,
        partition_id,
        hour_at,
        cast(hour_at as date) as hour_date,
        hour(hour_at) as hour_of_day,
        -- An estimate counts whole segments: less than one is unknown, not nothing.
        if(last_measured_bytes is null and bytes_at_end <= 0, null, bytes_at_end) as bytes_at_end,
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
                'less than a segment: no record says how much':
                    'last_measured_bytes is null and bytes_at_end <= 0',
                'growth is estimated; the size was measured only once':
                    'last_measured_bytes is not null and measured_growth is null',
                'no record in this hour; carried over from the last one': 'is_carried',
                'concluded: the unit of du, from its numbers': 'is_unit_inferred'
            })
        }} as warnings
    from placed
    left join judged using (cluster_id, cluster_incarnation, node_id, partition_id, hour_at)
)

select * from final
