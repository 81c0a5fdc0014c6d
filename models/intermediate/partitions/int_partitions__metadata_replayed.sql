with metadata_records as (
    select * from {{ ref('stg_captures__metadata_records') }}
),

-- A gap in a dump leaves the epochs after it unknown: a change record says that the epoch rises, not to what.
followed as (
    select
        *,
        coalesce(
            record_offset <> 1 + lag(record_offset) over (
                partition by cluster_id, source_id order by byte_offset, row_number
            ),
            true
        ) as is_after_hole
    from metadata_records
),

unbroken as (
    select
        *,
        sum(if(is_after_hole, 1, 0)) over (
            partition by cluster_id, source_id
            order by byte_offset, row_number
            rows between unbounded preceding and current row
        ) as stretch_number
    from followed
),

names as (
    select
        cluster_id,
        topic_id,
        max(topic_name) as topic_name
    from metadata_records
    where record_type = 'TOPIC_RECORD'
    group by cluster_id, topic_id
),

based as (
    select
        *,
        count_if(record_type = 'PARTITION_RECORD') over (partition_log) as base_number,
        last_value(replicas, true) over (partition_log) as known_replicas
    from unbroken
    where
        record_type in ('PARTITION_RECORD', 'PARTITION_CHANGE_RECORD')
        and topic_id is not null
        and partition_id is not null
    window partition_log as (
        partition by cluster_id, source_id, stretch_number, topic_id, partition_id
        order by byte_offset, row_number
        rows between unbounded preceding and current row
    )
),

-- Each change that names a leader, even the old one, raises the epoch by one
-- (PartitionRegistration.merge).
counted as (
    select
        *,
        max(leader_epoch) over (base)
        + count_if(record_type = 'PARTITION_CHANGE_RECORD' and leader_id is not null) over (base)
            as replayed_epoch
    from based
    where base_number > 0
    window base as (
        partition by cluster_id, source_id, stretch_number, topic_id, partition_id, base_number
        order by byte_offset, row_number
        rows between unbounded preceding and current row
    )
),

final as (
    select
        counted.cluster_id,
        counted.node_id,
        counted.captured_at as logged_at,
        counted.source_path,
        counted.byte_offset,
        counted.record_type,
        names.topic_name,
        counted.partition_id,
        counted.topic_id,
        counted.leader_id,
        cast(counted.replayed_epoch as int) as leader_epoch,
        counted.isr,
        counted.known_replicas as replicas
    from counted
    inner join names
        on counted.cluster_id = names.cluster_id and counted.topic_id = names.topic_id
    where counted.leader_id is not null
)

select * from final
