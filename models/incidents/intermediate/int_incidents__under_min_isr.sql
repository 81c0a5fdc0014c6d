with members as (
    select * from {{ ref('int_incidents__members') }}
),

windows as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

partitions as (
    select * from {{ ref('dim_partitions') }}
),

-- One replica more out of sync, and one less.
turns as (
    select
        cluster_id,
        topic_key,
        partition_id,
        stack(2, started_at, 1, ended_at, -1) as (turned_at, change)
    from windows
),

changed as (
    select
        cluster_id,
        topic_key,
        partition_id,
        turned_at,
        sum(change) as change
    from turns
    where turned_at is not null
    group by cluster_id, topic_key, partition_id, turned_at
),

counted as (
    select
        *,
        sum(change) over (
            partition by cluster_id, topic_key, partition_id
            order by turned_at
            rows between unbounded preceding and current row
        ) as out_of_sync,
        lead(turned_at) over (
            partition by cluster_id, topic_key, partition_id order by turned_at
        ) as next_turn_at
    from changed
),

-- With acks=all nothing can be written while fewer replicas are in sync than min.insync.replicas asks for.
stretches as (
    select
        counted.cluster_id,
        concat(partitions.topic_name, '-', partitions.partition_id) as partition_name,
        counted.turned_at,
        counted.next_turn_at
    from counted
    inner join partitions
        on
            counted.cluster_id = partitions.cluster_id
            and counted.topic_key = partitions.topic_key
            and counted.partition_id = partitions.partition_id
    where
        counted.next_turn_at is not null
        and partitions.replication_factor - counted.out_of_sync < partitions.min_insync_replicas
),

shrunk as (
    select
        incident_key,
        cluster_id,
        explode(partitions) as partition_name,
        started_at,
        ended_at
    from members
    where event_kind = 'isr_shrunk'
),

touched as (
    select distinct
        shrunk.incident_key,
        stretches.*
    from shrunk
    inner join stretches
        on
            shrunk.cluster_id = stretches.cluster_id
            and shrunk.partition_name = stretches.partition_name
            and shrunk.started_at <= stretches.turned_at
            and (shrunk.ended_at is null or shrunk.ended_at > stretches.turned_at)
),

final as (
    select
        incident_key,
        sum(unix_millis(next_turn_at) - unix_millis(turned_at)) as under_min_isr_ms
    from touched
    group by incident_key
)

select * from final
