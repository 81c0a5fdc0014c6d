with refusals as (
    select
        *,
        date_trunc('hour', logged_at) as hour_at,
        coalesce(in_sync_replicas, cast(nullif(size(isr), -1) as int)) as replicas_left
    from {{ ref('stg_logs__write_refusals') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('refusals') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        max(node_id) as node_id,
        process_name,
        topic_name,
        partition_id,
        hour_at,
        min(logged_at) as first_at,
        max(logged_at) as last_at,
        count(*) as refusals,
        count_if(is_appended) as refusals_after_append,
        max_by(isr, struct(logged_at, source_path, byte_offset)) filter (where isr is not null)
            as isr,
        min(replicas_left) as in_sync_replicas,
        max_by(min_insync_replicas, struct(logged_at, source_path, byte_offset)) filter (
            where min_insync_replicas is not null
        ) as min_insync_replicas,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed
    group by
        cluster_id, cluster_incarnation, process_name, topic_name, partition_id, hour_at
)

select * from final
