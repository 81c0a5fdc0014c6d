-- Each path that ingestion met is one row; what was read of it in all loads adds up.
with source_rows as (
    select * from {{ ref('stg_sources__files') }}
),

mart_rows as (
    select * from {{ ref('fct_sources') }}
),

expected as (
    select
        cluster_id,
        count(distinct source_path) as paths,
        sum(records) as records,
        sum(recognised) as recognised
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as paths,
        sum(records) as records,
        sum(recognised) as recognised
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.paths as expected_paths,
        found.paths as found_paths,
        expected.records as expected_records,
        found.records as found_records,
        expected.recognised as expected_recognised,
        found.recognised as found_recognised
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.paths, 0) <> coalesce(found.paths, 0)
        or coalesce(expected.records, 0) <> coalesce(found.records, 0)
        or coalesce(expected.recognised, 0) <> coalesce(found.recognised, 0)
)

select * from final
