with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign not in ('uncleanable', 'at_work') and node_id is not null
),

offsets_events as (
    select * from {{ ref('stg_logs__offsets_events') }}
    where {{ has_role('segment_roll') }} and node_id is not null
),

-- Hours in which the process logged anything.
node_events as (
    select
        cluster_id,
        node_id,
        max(last_record.logged_at) as logged_at
    from {{ ref('int_nodes__minutes') }}
    group by cluster_id, node_id, date_trunc('hour', minute_at)
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

-- One row per sign of a node's cleaner, roll of a segment of __consumer_offsets, and hour in
-- which the node logged anything.
signs_and_rolls as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        signed_at,
        sign,
        reported_by,
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
        'rolled' as reported_by,
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
        'heard' as reported_by,
        null as source_path,
        null as byte_offset
    from hours
),

-- Each sign of life begins a stretch, whose silence lasts until the next one. Nothing is known after a stop.
numbered as (
    select
        *,
        count_if(sign in ('alive', 'restarted')) over (so_far) as stretch_number,
        last_value(case when sign in ('alive', 'restarted', 'stopping') then sign end, true)
            over (so_far) as cleaner_state
    from signs_and_rolls
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id
        order by signed_at, sign, source_path, byte_offset
        rows between unbounded preceding and current row
    )
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        stretch_number,
        min(case when sign in ('alive', 'restarted') then signed_at end) as alive_at,
        max(reported_by in ('cleaning', 'cleaning_begun')) as is_cleaning,
        max(reported_by = 'cleaning_begun') as is_run_open,
        max(sign = 'dead' and reported_by = 'thread_error') as is_death_logged,
        min(case when sign = 'dead' and reported_by = 'thread_dump' then signed_at end)
            as dumped_at,
        min(case when sign = 'dead' and reported_by = 'metric' then signed_at end) as measured_at,
        count_if(sign = 'heard') as hours_with_records,
        count_if(sign = 'rolled') as segments_rolled,
        max(case when sign = 'rolled' then signed_at end) as last_rolled_at,
        {{ evidence("sign not in ('rolled', 'heard')", at='signed_at') }} as evidence,
        count_if(sign not in ('rolled', 'heard')) as evidence_count,
        {{ evidence("sign = 'rolled'", at='signed_at') }} as roll_evidence
    from numbered
    where coalesce(cleaner_state, '') <> 'stopping'
    group by cluster_id, cluster_incarnation, node_id, stretch_number
)

select * from final
