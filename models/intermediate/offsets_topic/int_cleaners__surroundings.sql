with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign not in ('uncleanable', 'at_work')
),

offsets_events as (
    select * from {{ ref('stg_logs__offsets_events') }}
    where event_type = 'segment_rolled' and node_id is not null
),

-- The process was heard of in these hours, whatever it said.
node_events as (
    select
        cluster_id,
        node_id,
        max(logged_at) as logged_at
    from {{ ref('stg_logs__node_events') }}
    group by cluster_id, node_id, date_trunc('hour', logged_at)
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

rolls as (
    {{ placed('offsets_events') }}
),

hours as (
    {{ placed('node_events') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        signed_at,
        sign,
        witness,
        source_path,
        byte_offset
    from signs
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        logged_at as signed_at,
        'rolled' as sign,
        'rolled' as witness,
        source_path,
        byte_offset
    from rolls
    union all
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        logged_at as signed_at,
        'heard' as sign,
        'heard' as witness,
        null as source_path,
        null as byte_offset
    from hours
)

select * from final
