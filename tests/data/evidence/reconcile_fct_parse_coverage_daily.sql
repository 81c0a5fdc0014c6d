-- Every record counts on one day, whether it was recognised or not; what a file cut off is no record.
with source_rows as (
    select * from {{ ref('stg_logs__records') }}
),

mart_rows as (
    select * from {{ ref('fct_parse_coverage_daily') }}
),

expected as (
    select
        cluster_id,
        count(*) as records,
        sum(case when is_recognised then 1 else 0 end) as recognised,
        sum(byte_length) as bytes
    from source_rows
    where outcome <> 'source_cut'
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(records) as records,
        sum(recognised) as recognised,
        sum(bytes) as bytes
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.records as expected_records,
        found.records as found_records,
        expected.recognised as expected_recognised,
        found.recognised as found_recognised,
        expected.bytes as expected_bytes,
        found.bytes as found_bytes
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.records, 0) <> coalesce(found.records, 0)
        or coalesce(expected.recognised, 0) <> coalesce(found.recognised, 0)
        or coalesce(expected.bytes, 0) <> coalesce(found.bytes, 0)
)

select * from final
