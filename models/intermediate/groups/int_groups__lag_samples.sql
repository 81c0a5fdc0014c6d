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
        bool_or(source_kind = 'burrow_json' and sampled_known_by = 'content') as is_commit,
        bool_or(sampled_known_by = 'modified') as is_dated_by_file,
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

-- Exporters write -1 as the offset and as the lag of a group that has committed nothing.
committed as (
    select
        * except (committed_offset, lag),
        if(committed_offset < 0, null, committed_offset) as committed_offset,
        if(lag < 0 and coalesce(committed_offset, -1) < 0, null, lag) as lag
    from measured
),

-- An exporter that has only the lag also has the end of the partition.
sampled as (
    select
        committed.cluster_id,
        committed.source_kind,
        committed.group_id,
        committed.topic_name,
        committed.partition_id,
        committed.sampled_at,
        case
            when committed.is_commit then 'commit'
            when committed.source_kind = 'burrow_json' and committed.committed_offset is null
                then 'answer'
            else 'state'
        end as sample_kind,
        try_cast(coalesce(committed.committed_offset, ends.end_offset - committed.lag) as bigint)
            as committed_offset,
        try_cast(committed.lag as bigint) as lag,
        cast(null as boolean) as has_member,
        committed.is_dated_by_file,
        committed.evidence,
        committed.evidence_count
    from committed
    left join ends
        on
            committed.cluster_id = ends.cluster_id
            and committed.source_kind = ends.source_kind
            and committed.topic_name = ends.topic_name
            and committed.partition_id = ends.partition_id
            and committed.sampled_at = ends.sampled_at
    union all
    select
        cluster_id,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        captured_at as sampled_at,
        'state' as sample_kind,
        max(committed_offset) as committed_offset,
        -- greatest leaves nulls out: an end that is not known is no lag of 0.
        max(
            coalesce(
                lag,
                case
                    when end_offset >= committed_offset then end_offset - committed_offset
                    when end_offset < committed_offset then 0
                end
            )
        ) as lag,
        bool_or(member_id is not null) as has_member,
        bool_or(captured_known_by = 'modified') as is_dated_by_file,
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
