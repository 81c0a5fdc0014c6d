{{
    config(
        materialized='table',
        meta={'at': 'minute_at', 'ahead': {'seconds': 10}, 'unit': 'minute'}
    )
}}

-- A configuration belongs to a start within ten seconds after it.
with lifecycle_events as (
    select * from {{ ref('int_nodes__starts') }}
),

-- A process without a number counts where it says something about its life: other programs write such files, too.
unnumbered as (
    select distinct
        cluster_id,
        node_id as writer_id
    from lifecycle_events
    where writer is not null and lifecycle_step is not null
),

events as (
    select * from {{ ref('base_logs__distinct_events') }}
    where writer_id is not null and {{ since('logged_at') }}
),

node_events as (
    select
        events.cluster_id,
        events.writer_id as node_id,
        events.logged_at,
        events.source_path,
        events.byte_offset
    from events
    left join unnumbered
        on events.cluster_id = unnumbered.cluster_id and events.writer_id = unnumbered.writer_id
    where events.node_id is not null or unnumbered.writer_id is not null
),

starts as (
    select * from lifecycle_events
    where is_start and {{ since('logged_at') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The minutes in which a node starts, with the places of the starts.
minutes_with_starts as (
    select
        cluster_id,
        node_id,
        date_trunc('minute', logged_at) as minute_at,
        collect_list(struct(logged_at, source_path, byte_offset)) as start_places
    from starts
    group by cluster_id, node_id, date_trunc('minute', logged_at)
),

-- Only the place of each event, because there are many.
places as (
    select
        cluster_id,
        node_id,
        logged_at,
        date_trunc('minute', logged_at) as minute_at,
        struct(logged_at, source_path, byte_offset) as place
    from node_events
),

-- A start splits the minute in which it falls.
numbered as (
    select
        places.*,
        coalesce(array_contains(start_places, place), false) as is_start,
        if(start_places is null, 0, size(filter(start_places, at -> at <= place))) as start_number
    from places
    left join minutes_with_starts using (cluster_id, node_id, minute_at)
),

placed as (
    {{ placed('numbered') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        minute_at,
        start_number,
        cast(count_if(is_start) as int) as starts,
        min(logged_at) as first_seen_at,
        max(place) as last_record
    from placed
    where {{ since('minute_at') }}
    group by cluster_id, cluster_incarnation, node_id, minute_at, start_number
)

select * from final
