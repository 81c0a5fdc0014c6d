with log_dirs as (
    select * from {{ ref('stg_captures__log_dirs') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

dated as (
    select * from log_dirs
    where captured_at is not null and node_id is not null and log_dir is not null
),

placed as (
    {{ placed('dated', at='captured_at') }}
),

-- Descriptions of a directory between which none shows it served are one failure.
numbered as (
    select
        *,
        count_if(exception is null) over (
            partition by cluster_id, cluster_incarnation, node_id, log_dir
            order by captured_at, source_path, byte_offset, row_number
            rows between unbounded preceding and current row
        ) as times_served
    from placed
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        log_dir,
        times_served,
        min(captured_at) as failed_at,
        max(captured_at) as last_described_at,
        min_by(exception, struct(captured_at, source_path, byte_offset)) as exception,
        min_by(exception_message, struct(captured_at, source_path, byte_offset)) as cause,
        bool_or(captured_known_by = 'modified') as is_dated_by_file,
        {{ evidence(at='captured_at') }} as evidence,
        count(*) as evidence_count
    from numbered
    where exception is not null
    group by cluster_id, cluster_incarnation, node_id, log_dir, times_served
)

select * from final
