with releases as (
    select * from {{ ref('kafka_releases') }}
),

final as (
    select
        kafka_version,
        release_line,
        {{ release_numbers('kafka_version') }} as release_numbers,
        order_number,
        released_on
    from releases
)

select * from final
