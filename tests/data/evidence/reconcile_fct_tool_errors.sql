-- Every failure that a tool printed is evidence of one row.
with source_rows as (
    select * from {{ ref('stg_captures__tool_errors') }}
),

mart_rows as (
    select * from {{ ref('fct_tool_errors') }}
),

expected as (
    select
        cluster_id,
        count(*) as errors
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(evidence_count) as errors
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.errors as expected_errors,
        found.errors as found_errors
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where coalesce(expected.errors, 0) <> coalesce(found.errors, 0)
)

select * from final
