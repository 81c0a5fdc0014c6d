with tenures as (
    select * from {{ ref('fct_controller_tenures') }}
),

epoch_gaps as (
    select * from {{ ref('fct_epoch_gaps') }}
),

controllerless_windows as (
    select * from {{ ref('fct_controllerless_windows') }}
),

followed as (
    select
        *,
        lag(controller_id) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as previous_controller_id,
        lag(end_kind) over (
            partition by cluster_id, cluster_incarnation, epoch_kind order by controller_epoch
        ) as previous_end_kind
    from tenures
),

final as (
    select
        {{
            incident_fact(
                'fct_controller_tenures', 'controller_tenure_key', "'controller_moved'", 'elected_at', 'elected_at',
                nodes='array(previous_controller_id)', other='controller_id',
                detail=in_words('end_kind', 'previous_end_kind')
            )
        }}
    from followed
    where
        previous_controller_id is not null
        and previous_controller_id <> controller_id
        and elected_at is not null
    union all
    -- An election after a failure takes seconds; then nobody misses the controller.
    select
        {{
            incident_fact(
                'fct_controllerless_windows', 'controllerless_window_key', "'quorum_lost'", 'started_at', 'ended_at',
                nodes='array_compact(array(last_controller_id))', other='next_controller_id',
                detail="if(ended_at is null, 'at least ', '')",
                duration='coalesce(duration_ms, unix_millis(last_sign_at) - unix_millis(started_at))'
            )
        }}
    from controllerless_windows
    where
        coalesce(duration_ms, unix_millis(last_sign_at) - unix_millis(started_at))
        >= {{ var('quorum_lost_ms') }}
        or (ended_at is null and known_by = 'describe')
    union all
    -- From the election of the next controller until the node stops acting as controller.
    select
        {{
            incident_fact(
                'fct_controller_tenures', 'controller_tenure_key', "'split_brain'",
                'superseded_at', 'timestampadd(millisecond, overlap_ms, superseded_at)',
                nodes='array(controller_id)', other='overlapping_controller_id', duration='overlap_ms'
            )
        }}
    from tenures
    where is_split_brain and superseded_at is not null and controller_id is not null
    union all
    select
        {{
            incident_fact(
                'fct_controller_tenures', 'controller_tenure_key', "'late_controller_writes'",
                'superseded_at', 'timestampadd(millisecond, overlap_ms, superseded_at)',
                nodes='array(controller_id)', other='overlapping_controller_id', amount='late_writes'
            )
        }}
    from tenures
    where late_writes > 0 and superseded_at is not null and controller_id is not null
    union all
    select
        {{
            incident_fact(
                'fct_epoch_gaps', 'epoch_gap_key', "'stale_node'", 'opened_at', 'ended_at',
                nodes='array(node_id)', topic='topic_name', partition='partition_id',
                amount='expected_epoch - found_epoch', duration='duration_ms', burst='node_id'
            )
        }}
    from epoch_gaps
    where gap_kind = 'stale_node' and epoch_kind = 'leader' and node_id is not null
)

select * from final
