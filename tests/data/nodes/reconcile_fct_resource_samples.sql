-- Every record that says that a resource ran out, every sample of open files and every file system, is evidence of a row.
with exhaustions as (
    select * from {{ ref('stg_logs__exhaustions') }} where resource <> 'jvm'
),

samples as (
    select * from {{ ref('stg_metrics__resource_samples') }}
),

file_systems as (
    select * from {{ ref('stg_captures__file_systems') }}
),

mart_rows as (
    select * from {{ ref('fct_resource_samples') }}
),

reported as (
    select
        cluster_id,
        resource
    from exhaustions
    union all
    select
        cluster_id,
        resource
    from samples
    where not is_limit and resource is not null
    union all
    select
        cluster_id,
        'disk_bytes' as resource
    from file_systems
),

expected as (
    select
        cluster_id,
        resource,
        count(*) as lines
    from reported
    group by cluster_id, resource
),

found as (
    select
        cluster_id,
        resource,
        sum(evidence_count) as lines
    from mart_rows
    group by cluster_id, resource
),

-- Limits and fatal error reports are evidence too: there may be more.
final as (
    select
        expected.cluster_id,
        expected.resource,
        expected.lines as expected_lines,
        found.lines as found_lines
    from expected
    left join found
        on expected.cluster_id = found.cluster_id and expected.resource = found.resource
    where coalesce(found.lines, 0) < expected.lines
)

select * from final
