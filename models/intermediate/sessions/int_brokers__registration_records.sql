with registration_events as (
    select * from {{ ref('stg_logs__registration_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

stale_terms as (
    select * from {{ ref('int_controllers__stale_terms') }}
),

placed as (
    {{ placed('registration_events') }}
    where
        {{ has_role(['registration_record', 'unfencing_grant'], 'registration_events.event_type') }}
),

-- A controller reads the metadata log from its last snapshot on before it is ready: what it prints until then may be long out of date. A run that
-- never was, before the next one began, read nothing but that.
-- A controller whose term is over prints records that are never committed.
final as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.event_type,
        placed.broker_id,
        placed.broker_epoch,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset,
        placed.is_fencing,
        placed.is_unfencing,
        placed.is_leaving,
        coalesce(
            not {{ has_role('unfencing_grant', 'placed.event_type') }}
            and placed.logged_at
            < coalesce(runs.ready_at, runs.next_started_at, runs.started_at + interval 1 minute),
            false
        ) as is_starting
    from placed
    left join runs
        on
            placed.cluster_id = runs.cluster_id
            and placed.node_id = runs.node_id
            and placed.logged_at >= runs.started_at
            and (runs.next_started_at is null or placed.logged_at < runs.next_started_at)
    left anti join stale_terms on {{ in_stale_term('placed') }}
)

select * from final
