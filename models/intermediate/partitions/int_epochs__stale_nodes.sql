with rejections as (
    select * from {{ ref('stg_logs__epoch_rejections') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- A request from a controller, or for a leader epoch, that the receiver knows to be over.
judged as (
    select
        cluster_id,
        if({{ has_role('old_controller_rejection') }}, 'controller', 'leader') as epoch_kind,
        topic_name,
        partition_id,
        node_id,
        if(
            {{ has_role('old_controller_rejection') }},
            latest_controller_epoch,
            current_leader_epoch
        ) as expected_epoch,
        if({{ has_role('old_controller_rejection') }}, controller_epoch, leader_epoch)
            as found_epoch,
        logged_at,
        source_path,
        byte_offset
    from rejections
),

placed as (
    {{ placed('judged') }}
),

placed_in_life as (
    {{ with_topic_incarnation('placed') }}
),

-- Refusals of the same old epoch that follow each other within a minute are one gap.
final as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        'stale_node' as gap_kind,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        max(expected_epoch) as expected_epoch,
        found_epoch,
        max(expected_epoch) - found_epoch - 1 as missing_epochs,
        min(logged_at) as opened_at,
        max(logged_at) as closed_at,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from placed_in_life
    where found_epoch < expected_epoch
    group by
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        found_epoch,
        session_window(logged_at, '1 minute')
)

select * from final
