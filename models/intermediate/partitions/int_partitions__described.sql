with described as (
    select * from {{ ref('stg_captures__topic_partitions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A describe that has no time cannot be laid beside an epoch.
dated as (
    select *
    from described
    where captured_at is not null and topic_name is not null and leader_id is not null
),

final as (
    {{ placed('dated', at='captured_at') }}
)

select * from final
