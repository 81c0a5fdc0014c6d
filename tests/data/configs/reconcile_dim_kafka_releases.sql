-- The releases, ordered by number, are in the order of the seed, and each release has a place in
-- it.
with mart_rows as (
    select * from {{ ref('dim_kafka_releases') }}
),

source_rows as (
    select count(*) as releases from {{ ref('kafka_releases') }}
),

ordered as (
    select
        kafka_version,
        order_number,
        row_number() over (order by release_numbers) as found_number,
        count(*) over () as found_releases
    from mart_rows
),

final as (
    select
        ordered.kafka_version,
        ordered.order_number,
        ordered.found_number
    from ordered
    cross join source_rows
    where
        ordered.order_number <> ordered.found_number
        or ordered.found_releases <> source_rows.releases
)

select * from final
