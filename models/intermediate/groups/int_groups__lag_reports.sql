with captured_groups as (
    select * from {{ ref('stg_captures__groups') }}
),

samples as (
    select * from {{ ref('stg_metrics__group_samples') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

sentence as (
    select
        cluster_id,
        node_id,
        source_kind,
        source_path,
        byte_offset,
        group_id,
        topic_name,
        partition_id,
        status,
        captured_at as reported_at,
        captured_known_by = 'modified' as is_dated_by_file,
        lag
    from captured_groups
    where row_kind in ('burrow_group', 'burrow_group_partition') and status is not null
    union all
    select
        cluster_id,
        node_id,
        source_kind,
        source_path,
        byte_offset,
        group_id,
        topic_name,
        partition_id,
        element_at(
            array('NOTFOUND', 'OK', 'WARN', 'ERR', 'STOP', 'STALL', 'REWIND'),
            cast(value as int) + 1
        ) as status,
        sampled_at as reported_at,
        sampled_known_by = 'modified' as is_dated_by_file,
        cast(null as bigint) as lag
    from samples
    -- For those who scrape Burrow's exporter; Burrow's own answers are rows of their own.
    where
        metric = 'consumer_group_status'
        and source_kind <> 'burrow_json'
        and value between 0 and 6
),

placed as (
    {{ placed('sentence', at='reported_at') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        reported_at,
        max_by(status, struct(source_path, byte_offset)) as status,
        max(lag) as lag,
        bool_or(is_dated_by_file) as is_dated_by_file,
        {{ evidence(at='reported_at') }} as evidence,
        count(*) as evidence_count
    from placed
    where group_id is not null and status in ('OK', 'WARN', 'ERR', 'STOP', 'STALL', 'REWIND')
    group by
        cluster_id,
        cluster_incarnation,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        reported_at
)

select * from final
