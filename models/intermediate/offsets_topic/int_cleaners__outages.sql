with thread_outages as (
    select * from {{ ref('int_cleaners__thread_outages') }}
),

partition_outages as (
    select * from {{ ref('int_cleaners__partition_outages') }}
),

quiet_outages as (
    select * from {{ ref('int_cleaners__quiet_outages') }}
),

disabled_stretches as (
    select * from {{ ref('int_cleaners__disabled_stretches') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        topic_name,
        partition_id,
        extent,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count
    from thread_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        topic_name,
        partition_id,
        extent,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count
    from partition_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        topic_name,
        partition_id,
        extent,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count
    from quiet_outages
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cleaner_thread,
        topic_name,
        partition_id,
        extent,
        stopped_at,
        noticed_at,
        resumed_at,
        found_by,
        cause,
        evidence,
        evidence_count
    from disabled_stretches
)

select * from final
