with failures as (
    select * from {{ ref('stg_logs__transaction_marker_failures') }}
),

found as (
    select * from {{ ref('stg_captures__hanging_transactions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The coordinator tries again at once, and after each change of the leader.
spaced as (
    select
        *,
        coalesce(
            logged_at > lag(logged_at) over (marker) + interval 5 minutes, true
        ) as is_first
    from failures
    window marker as (
        partition by cluster_id, transactional_id, topic_name, partition_id
        order by logged_at, source_id, byte_offset
    )
),

numbered as (
    select
        *,
        count_if(is_first) over (
            partition by cluster_id, transactional_id, topic_name, partition_id
            order by logged_at, source_id, byte_offset
            rows between unbounded preceding and current row
        ) as stretch_number
    from spaced
),

-- A marker that fails for some seconds waits for a new leader, as all writes do.
unioned as (
    select
        cluster_id,
        max(node_id) as coordinator_id,
        transactional_id,
        cast(null as bigint) as producer_id,
        topic_name,
        partition_id,
        min(logged_at) as started_at,
        max(logged_at) as last_seen_at,
        unix_millis(max(logged_at)) - unix_millis(min(logged_at)) as duration_ms,
        'markers' as found_by,
        count(*) as failures,
        sort_array(collect_set(error)) as errors,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from numbered
    group by cluster_id, transactional_id, topic_name, partition_id, stretch_number
    having
        unix_millis(max(logged_at)) - unix_millis(min(logged_at))
        >= {{ var('transaction_hanging_after_ms') }}
    union all
    select
        cluster_id,
        cast(null as int) as coordinator_id,
        cast(null as string) as transactional_id,
        producer_id,
        topic_name,
        partition_id,
        min(last_written_at) as started_at,
        max(captured_at) as last_seen_at,
        max(duration_ms) as duration_ms,
        'tool' as found_by,
        cast(null as bigint) as failures,
        cast(array() as array<string>) as errors,
        transform(
            slice(sort_array(collect_list(struct(captured_at, source_path, byte_offset))), 1, 10),
            line -> named_struct(
                'node_id', cast(null as int),
                'source_path', line.source_path,
                'byte_offset', line.byte_offset
            )
        ) as evidence,
        count(*) as evidence_count
    from found
    group by cluster_id, producer_id, topic_name, partition_id, start_offset
),

final as (
    {{ placed('unioned', at='started_at') }}
)

select * from final
