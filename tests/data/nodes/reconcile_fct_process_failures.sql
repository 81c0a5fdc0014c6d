-- Each log record by which a process of a node ends lies within a failure of that process.
with signs as (
    select * from {{ ref('stg_logs__process_failures') }}
    where is_end
),

mart_rows as (
    select * from {{ ref('fct_process_failures') }}
)

select
    signs.cluster_id,
    signs.node_id,
    signs.logged_at
from signs
left anti join mart_rows
    on
        signs.cluster_id = mart_rows.cluster_id
        and signs.process_name = mart_rows.process_name
        and signs.logged_at between mart_rows.failed_at and mart_rows.last_sign_at
