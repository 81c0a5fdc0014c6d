with process_facts as (
    select * from {{ ref('int_incidents__process_facts') }}
),

controller_facts as (
    select * from {{ ref('int_incidents__controller_facts') }}
),

partition_facts as (
    select * from {{ ref('int_incidents__partition_facts') }}
),

replica_facts as (
    select * from {{ ref('int_incidents__replica_facts') }}
),

storage_facts as (
    select * from {{ ref('int_incidents__storage_facts') }}
),

request_facts as (
    select * from {{ ref('int_incidents__request_facts') }}
),

final as (
    select * from process_facts
    union all
    select * from controller_facts
    union all
    select * from partition_facts
    union all
    select * from replica_facts
    union all
    select * from storage_facts
    union all
    select * from request_facts
)

select * from final
