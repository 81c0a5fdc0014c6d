with samples as (
    select * from {{ ref('base_metrics__samples') }}
    where metric = 'log_segments' and node_id is not null and value >= 0 and not isnan(value)
),

directory_entries as (
    select * from {{ ref('stg_captures__directory_entries') }}
    where segment_file = 'log' and node_id is not null and captured_at is not null
),

recovery_events as (
    select * from {{ ref('stg_logs__recovery_events') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

started as (
    select
        *,
        count_if({{ has_role('logs_loading_start') }}) over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as start_number
    from recovery_events
),

-- Logs that are created later are loaded too, and log that.
bounded as (
    select
        *,
        min(case when {{ has_role('logs_loading_end') }} then logged_at end) over (
            partition by cluster_id, node_id, start_number
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and unbounded following
        ) as all_loaded_at
    from started
),

counted as (
    select
        cluster_id,
        node_id,
        sampled_at,
        sum(value) as segments,
        min(struct(source_path, byte_offset)) as line
    from samples
    group by cluster_id, node_id, sampled_at
    union all
    select
        cluster_id,
        node_id,
        captured_at as sampled_at,
        cast(count(*) as double) as segments,
        min(struct(source_path, byte_offset)) as line
    from directory_entries
    group by cluster_id, node_id, source_id, captured_at
    union all
    select
        cluster_id,
        node_id,
        max(logged_at) as sampled_at,
        cast(sum(segments) as double) as segments,
        max_by(
            struct(source_path, byte_offset), struct(logged_at, source_path, byte_offset)
        ) as line
    from bounded
    where
        {{ has_role('log_load') }}
        and segments is not null
        and coalesce(logged_at <= all_loaded_at, true)
    group by cluster_id, node_id, start_number
),

-- A segment maps its offset index, and since 0.10.1 its time index.
final as (
    select
        counted.cluster_id,
        counted.node_id,
        counted.sampled_at,
        counted.segments,
        counted.segments
        * if(coalesce(releases.release_numbers < array(0, 10, 1), false), 1, 2) as segment_maps,
        counted.line.source_path,
        counted.line.byte_offset
    from counted
    left join releases
        on
            counted.cluster_id = releases.cluster_id
            and counted.node_id = releases.node_id
            and counted.sampled_at >= releases.valid_from
            and counted.sampled_at < releases.valid_to
)

select * from final
