with hours as (
    select * from {{ ref('int_offsets__hours') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

configured as (
    select * from {{ ref('stg_logs__offsets_settings') }}
),

-- A partition that falls silent must stay in view: hours run on to the last that the node is heard of.
heard as (
    select
        cluster_id,
        node_id,
        date_trunc('hour', max(last_seen_at)) as last_hour_at
    from runs
    group by cluster_id, node_id
),

spans as (
    select
        hours.cluster_id,
        hours.cluster_incarnation,
        hours.node_id,
        hours.partition_id,
        min(hours.hour_at) as first_hour_at,
        greatest(max(hours.hour_at), max(heard.last_hour_at)) as last_hour_at
    from hours
    inner join heard on hours.cluster_id = heard.cluster_id and hours.node_id = heard.node_id
    group by hours.cluster_id, hours.cluster_incarnation, hours.node_id, hours.partition_id
),

calendar as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        partition_id,
        explode(sequence(first_hour_at, last_hour_at, interval 1 hour)) as hour_at
    from spans
),

settings as (
    select
        cluster_id,
        node_id,
        max_by(segment_bytes, logged_at) as segment_bytes
    from configured
    group by cluster_id, node_id
),

final as (
    select
        calendar.cluster_id,
        calendar.cluster_incarnation,
        calendar.node_id,
        calendar.partition_id,
        calendar.hour_at,
        coalesce(hours.segments_rolled, 0) as segments_rolled,
        coalesce(hours.segments_deleted, 0) as segments_deleted,
        coalesce(hours.bytes_deleted, 0) as bytes_deleted,
        coalesce(hours.cleaner_runs, 0) as cleaner_runs,
        coalesce(hours.bytes_cleaned, 0) as bytes_cleaned,
        hours.bytes_after_cleaning,
        hours.bytes_at_load,
        hours.longest_load_ms,
        coalesce(hours.failed_tombstones, 0) as failed_tombstones,
        max(hours.cleaned_at) over (
            partition by
                calendar.cluster_id,
                calendar.cluster_incarnation,
                calendar.node_id,
                calendar.partition_id
            order by calendar.hour_at
            rows between unbounded preceding and current row
        ) as last_cleaned_at,
        -- Kafka's own default where the node's configuration is not in the logs.
        coalesce(settings.segment_bytes, 104857600) as segment_bytes,
        settings.segment_bytes is not null as is_segment_size_known,
        hours.evidence,
        coalesce(hours.evidence_count, 0) as evidence_count
    from calendar
    left join hours using (cluster_id, cluster_incarnation, node_id, partition_id, hour_at)
    left join settings
        on calendar.cluster_id = settings.cluster_id and calendar.node_id = settings.node_id
)

select * from final
