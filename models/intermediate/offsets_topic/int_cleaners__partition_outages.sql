with signs as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign in ('restarted', 'uncleanable')
),

-- The cleaner forgets what it gave up when it starts anew, and only then.
turned as (
    select
        *,
        count_if(sign = 'restarted') over (
            partition by cluster_id, cluster_incarnation, node_id
            order by signed_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as turn_number,
        min(case when sign = 'restarted' then signed_at end) over (
            partition by cluster_id, cluster_incarnation, node_id
            order by signed_at, source_path, byte_offset
            rows between 1 following and unbounded following
        ) as restarted_at
    from signs
),

outages as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        min(cleaner_thread) as cleaner_thread,
        topic_name,
        partition_id,
        turn_number,
        'partition' as extent,
        min(signed_at) as stopped_at,
        min(signed_at) as noticed_at,
        min(restarted_at) as resumed_at,
        if(partition_id is null, 'metric', 'thread_error') as found_by,
        min_by(cause, struct(signed_at, source_path, byte_offset)) filter (where cause is not null)
            as cause,
        {{ evidence(at='signed_at') }} as evidence,
        count(*) as evidence_count
    from turned
    where sign = 'uncleanable'
    group by
        cluster_id, cluster_incarnation, node_id, topic_name, partition_id, turn_number
),

-- A metric counts the partitions without naming them: where the log names one, the count adds nothing.
named as (
    select
        *,
        max(partition_id) over (
            partition by cluster_id, cluster_incarnation, node_id, turn_number
            order by stopped_at
            rows between unbounded preceding and unbounded following
        ) as named_partition_id
    from outages
),

final as (
    select * except (named_partition_id, turn_number)
    from named
    where partition_id is not null or named_partition_id is null
)

select * from final
