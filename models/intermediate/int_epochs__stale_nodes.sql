with rejections as (
    select * from {{ ref('stg_logs__epoch_rejections') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- A request from a controller, or for a leader epoch, that its receiver knows to be over.
placed as (
    select
        rejections.cluster_id,
        incarnations.cluster_incarnation,
        case
            when rejections.event_type like '%old_controller' then 'controller'
            else 'leader'
        end as epoch_kind,
        rejections.topic_name,
        rejections.partition_id,
        rejections.node_id,
        case
            when
                rejections.event_type like '%old_controller'
                then rejections.latest_controller_epoch
            else rejections.current_leader_epoch
        end as expected_epoch,
        case
            when rejections.event_type like '%old_controller' then rejections.controller_epoch
            else rejections.leader_epoch
        end as found_epoch,
        rejections.logged_at,
        rejections.source_path,
        rejections.byte_offset
    from rejections
    inner join incarnations
        on
            rejections.cluster_id = incarnations.cluster_id
            and rejections.logged_at >= incarnations.valid_from
            and rejections.logged_at < incarnations.valid_to
),

spaced as (
    select
        *,
        lag(logged_at) over (stream) as previous_at
    from placed
    where found_epoch < expected_epoch
    window stream as (
        partition by
            cluster_id,
            cluster_incarnation,
            epoch_kind,
            topic_name,
            partition_id,
            node_id,
            found_epoch
        order by logged_at, byte_offset
    )
),

-- Refusals of the same old epoch that follow each other within a minute are one gap.
numbered as (
    select
        *,
        sum(
            case
                when
                    previous_at is null or logged_at > previous_at + interval 1 minute
                    then 1
                else 0
            end
        ) over (
            partition by
                cluster_id,
                cluster_incarnation,
                epoch_kind,
                topic_name,
                partition_id,
                node_id,
                found_epoch
            order by logged_at, byte_offset
            rows between unbounded preceding and current row
        ) as gap_number
    from spaced
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        'stale_node' as gap_kind,
        topic_name,
        partition_id,
        cast(null as int) as topic_life,
        node_id,
        max(expected_epoch) as expected_epoch,
        found_epoch,
        max(expected_epoch) - found_epoch as missing_epochs,
        min(logged_at) as opened_at,
        max(logged_at) as closed_at,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from numbered
    group by
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        topic_name,
        partition_id,
        node_id,
        found_epoch,
        gap_number
)

select * from final
