with process_facts as (
    select * from {{ ref('int_incidents__process_facts') }}
),

controller_facts as (
    select * from {{ ref('int_incidents__controller_facts') }}
),

partition_facts as (
    select * from {{ ref('int_incidents__partition_facts') }}
),

final as (
    select * from process_facts
    union all
    select * from controller_facts
    union all
    select * from partition_facts
)

select * from final
