with cleaner_outages as (
    select * from {{ ref('fct_log_cleaner_outages') }}
),

growth as (
    select * from {{ ref('fct_offsets_topic_growth_hourly') }}
),

loads as (
    select * from {{ ref('fct_coordinator_loads') }}
),

log_dir_failures as (
    select * from {{ ref('fct_log_dir_failures') }}
),

resource_samples as (
    select * from {{ ref('fct_resource_samples') }}
),

final as (
    select
        {{
            incident_fact(
                'fct_log_cleaner_outages', 'log_cleaner_outage_key', "'log_cleaner_outage'",
                'stopped_at', 'ended_at', nodes='array_compact(array(node_id))', owner='process_name',
                topic="if(scope = 'partition', topic_name, null)",
                partition="if(scope = 'partition', partition_id, null)",
                detail="concat(coalesce(cause, concat('detected by ', " ~ in_words('found_by') ~ ")), coalesce(case when scope <> 'partition' then concat(', while cleaned ', topic_name, '-', partition_id) end, ''))",
                duration='duration_ms'
            )
        }}
    from cleaner_outages
    union all
    select
        {{
            incident_fact(
                'fct_offsets_topic_growth_hourly', 'offsets_topic_growth_hourly_key', "'offsets_growth'", 'hour_at',
                'hour_at + interval 1 hour', nodes='array(node_id)', topic="'__consumer_offsets'",
                partition='partition_id', detail='abnormal_reason', amount='bytes_growth',
                burst="concat(node_id, ':', partition_id)"
            )
        }}
    from growth
    where is_abnormal
    union all
    select
        {{
            incident_fact(
                'fct_coordinator_loads', 'coordinator_load_key', "'load_unfinished'", 'started_at', 'ended_at',
                nodes='array(node_id)', topic='topic_name', partition='partition_id', burst='node_id'
            )
        }}
    from loads
    where is_unfinished
    union all
    select
        {{
            incident_fact(
                'fct_log_dir_failures', 'log_dir_failure_key', "'log_dir_failure'", 'failed_at',
                'coalesce(last_logged_at, failed_at)', nodes='array(node_id)', partitions='partitions',
                detail="concat_ws(', ', log_dir, coalesce(cause, exception))"
            )
        }}
    from log_dir_failures
    union all
    select
        {{
            incident_fact(
                'fct_resource_samples', 'resource_sample_key', "'resource_exhausted'", 'sampled_at', 'sampled_at',
                nodes='array_compact(array(node_id))', owner='process_name',
                detail="concat(replace(resource, '_', ' '), coalesce(concat(' (limit ', cast(limit_value as bigint), ')'), ''))",
                burst="concat_ws(':', node_id, process_name, resource)"
            )
        }}
    from resource_samples
    where is_exhausted and sampled_at is not null
)

select * from final
