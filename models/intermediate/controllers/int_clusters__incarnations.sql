{{ config(materialized='table', file_format='parquet') }}

with terms as (
    select * from {{ ref('stg_logs__terms_started') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

sources as (
    select * from {{ ref('stg_sources__files') }}
),

compared as (
    select
        cluster_id,
        controller_id,
        controller_epoch,
        logged_at,
        max(controller_epoch) over (
            partition by cluster_id, epoch_kind
            order by logged_at, controller_epoch
            rows between unbounded preceding and 1 preceding
        ) as highest_epoch,
        lag(controller_epoch) over (
            partition by cluster_id, epoch_kind order by logged_at, controller_epoch
        ) as previous_epoch,
        lag(logged_at) over (
            partition by cluster_id, epoch_kind order by logged_at, controller_epoch
        ) as previous_at
    from terms
),

-- Within one incarnation of ZooKeeper's or the quorum's state no epoch is given twice (a cluster
-- that migrates from one to the other counts from the start, and lives on). An epoch lower by one
-- only means a clock that runs behind; the same epoch again within a minute is the same election,
-- logged twice.
begun as (
    select
        cluster_id,
        controller_id,
        logged_at as elected_at,
        previous_at
    from compared
    where
        highest_epoch is not null
        and (
            controller_epoch < previous_epoch - 1
            or (controller_epoch = 1 and controller_epoch < previous_epoch)
            or (controller_epoch = previous_epoch and logged_at > previous_at + interval 1 minute)
        )
),

-- The state was recreated before the first election in it: when the elected node was started, if its log shows that.
starts as (
    select
        begun.cluster_id,
        begun.elected_at,
        coalesce(max(lifecycle_events.logged_at), begun.elected_at) as started_at
    from begun
    left join lifecycle_events
        on
            begun.cluster_id = lifecycle_events.cluster_id
            and begun.controller_id = lifecycle_events.node_id
            and lifecycle_events.lifecycle_step = 'starting'
            and begun.elected_at >= lifecycle_events.logged_at
            and lifecycle_events.logged_at > begun.elected_at - interval 10 minutes
            and begun.previous_at < lifecycle_events.logged_at
    group by begun.cluster_id, begun.elected_at
),

bounds as (
    select
        cluster_id,
        started_at
    from starts
    union
    select
        cluster_id,
        timestamp '1970-01-01 00:00:00' as started_at
    from sources
),

final as (
    select
        cluster_id,
        cast(row_number() over (partition by cluster_id order by started_at) as int)
            as cluster_incarnation,
        started_at as valid_from,
        coalesce(
            lead(started_at) over (partition by cluster_id order by started_at),
            timestamp '9999-01-01 00:00:00'
        ) as valid_to
    from bounds
)

select * from final
