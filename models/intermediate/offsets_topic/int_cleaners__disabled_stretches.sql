with settings as (
    select * from {{ ref('stg_logs__offsets_settings') }}
    where is_cleaner_enabled is not null
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed_settings as (
    {{ placed('settings') }}
),

-- Each start prints the configuration; consecutive starts with the same setting are one stretch.
numbered as (
    select
        *,
        count_if(is_cleaner_enabled) over (
            partition by cluster_id, cluster_incarnation, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as times_enabled,
        lead(case when is_cleaner_enabled then logged_at end) ignore nulls over (
            partition by cluster_id, cluster_incarnation, node_id
            order by logged_at, source_path, byte_offset
        ) as enabled_at,
        lead(
            case when is_cleaner_enabled then array(struct(node_id, source_path, byte_offset)) end
        ) ignore nulls over (
            partition by cluster_id, cluster_incarnation, node_id
            order by logged_at, source_path, byte_offset
        ) as enabled_evidence
    from placed_settings
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cast(null as string) as process_name,
        cast(null as int) as cleaner_thread,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        false as is_partition_concluded,
        'cleaner' as scope,
        min(logged_at) as stopped_at,
        min(logged_at) as noticed_at,
        min(enabled_at) as resumed_at,
        'configuration' as found_by,
        'log.cleaner.enable=false' as cause,
        {{ evidence() }} as evidence,
        count(*) as evidence_count,
        min_by(enabled_evidence, struct(logged_at, source_path, byte_offset)) as end_evidence
    from numbered
    where not is_cleaner_enabled
    group by cluster_id, cluster_incarnation, node_id, times_enabled
)

select * from final
