with facts as (
    select * from {{ ref('bridge_incident_facts') }}
),

log_dir_failures as (
    select * from {{ ref('fct_log_dir_failures') }}
),

partitions as (
    select * from {{ ref('dim_partitions') }}
),

-- A log directory that fails takes several partitions away; the fact has their names alone.
listed as (
    select
        facts.incident_key,
        facts.cluster_id,
        facts.cluster_incarnation,
        log_dir_failures.failed_at,
        explode(log_dir_failures.partitions) as partition_name
    from facts
    inner join log_dir_failures on facts.fact_key = log_dir_failures.log_dir_failure_key
    where facts.fact_name = 'fct_log_dir_failures'
),

affected as (
    select
        facts.incident_key,
        partitions.partition_key
    from facts
    inner join partitions using (partition_key)
    union
    select
        listed.incident_key,
        partitions.partition_key
    from listed
    inner join partitions
        on
            listed.cluster_id = partitions.cluster_id
            and listed.cluster_incarnation = partitions.cluster_incarnation
            and listed.partition_name
            = concat(partitions.topic_name, '-', partitions.partition_id)
            and coalesce(listed.failed_at >= partitions.first_seen_at, true)
            and coalesce(listed.failed_at < partitions.ended_at, true)
),

final as (
    select
        {{ row_key(['affected.incident_key', 'affected.partition_key']) }}
            as incident_partition_key,
        affected.incident_key,
        partitions.cluster_key,
        partitions.topic_key,
        affected.partition_key,
        partitions.cluster_id,
        partitions.cluster_incarnation,
        partitions.topic_name,
        partitions.topic_incarnation,
        partitions.partition_id
    from affected
    inner join partitions using (partition_key)
)

select * from final
