with group_offsets as (
    select * from {{ ref('stg_captures__group_offsets') }}
),

samples as (
    select * from {{ ref('stg_metrics__group_samples') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

ends as (
    select
        cluster_id,
        source_kind,
        topic_name,
        partition_id,
        sampled_at,
        max(value) as end_offset
    from samples
    where metric = 'partition_end_offset' and partition_id is not null
    group by cluster_id, source_kind, topic_name, partition_id, sampled_at
),

measured as (
    select
        cluster_id,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        sampled_at,
        max(case when metric = 'consumer_group_committed_offset' then value end)
            as committed_offset,
        max(case when metric <> 'consumer_group_committed_offset' then value end) as lag,
        {{ evidence(at='sampled_at') }} as evidence,
        count(*) as evidence_count
    from samples
    where
        metric in (
            'consumer_group_lag', 'consumer_group_lag_zookeeper', 'consumer_group_committed_offset'
        )
        and group_id is not null
        and topic_name is not null
        and partition_id is not null
    group by cluster_id, source_kind, group_id, topic_name, partition_id, sampled_at
),

-- An exporter that has only the lag also has the end of the partition.
sampled as (
    select
        measured.cluster_id,
        measured.source_kind,
        measured.group_id,
        measured.topic_name,
        measured.partition_id,
        measured.sampled_at,
        try_cast(coalesce(measured.committed_offset, ends.end_offset - measured.lag) as bigint)
            as committed_offset,
        try_cast(measured.lag as bigint) as lag,
        cast(null as boolean) as has_member,
        measured.evidence,
        measured.evidence_count
    from measured
    left join ends
        on
            measured.cluster_id = ends.cluster_id
            and measured.source_kind = ends.source_kind
            and measured.topic_name = ends.topic_name
            and measured.partition_id = ends.partition_id
            and measured.sampled_at = ends.sampled_at
    union all
    select
        cluster_id,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        captured_at as sampled_at,
        max(committed_offset) as committed_offset,
        max(coalesce(lag, greatest(end_offset - committed_offset, 0))) as lag,
        bool_or(member_id is not null) as has_member,
        {{ evidence(at='captured_at') }} as evidence,
        count(*) as evidence_count
    from group_offsets
    where
        topic_name is not null
        and partition_id is not null
        and coalesce(lag, committed_offset) is not null
    group by cluster_id, source_kind, group_id, topic_name, partition_id, captured_at
),

final as (
    {{ placed('sampled', at='sampled_at') }}
)

select * from final
where committed_offset is not null or lag is not null
