with stops as (
    select * from {{ ref('int_partitions__replicas_stopped') }}
),

reported as (
    select * from {{ ref('int_partitions__isr_messages') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

statements as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        logged_at,
        isr
    from reported
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        logged_at,
        isr
    from claims
    where isr is not null and leader_id is not null
),

-- The set at the time the replica was removed.
based as (
    select
        stops.cluster_id,
        stops.cluster_incarnation,
        stops.topic_name,
        stops.partition_id,
        stops.topic_incarnation,
        stops.node_id,
        stops.logged_at,
        stops.source_path,
        stops.byte_offset,
        stops.broker_id,
        max(struct(statements.logged_at, statements.isr)) as base
    from stops
    inner join statements
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation)
    where stops.logged_at > statements.logged_at
    group by all
),

gone as (
    select
        *,
        transform(
            filter(
                collect_list(struct(logged_at, broker_id)) over (
                    partition by
                        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
                    order by logged_at, source_path, byte_offset
                    rows between unbounded preceding and current row
                ),
                stop -> stop.logged_at > base.logged_at
            ),
            stop -> stop.broker_id
        ) as gone_since
    from based
),

-- One after the other leaves the set; the last stays in it.
final as (
    select
        * except (broker_id, base, gone_since),
        base.isr as isr_before,
        filter(base.isr, member -> not array_contains(gone_since, member)) as isr
    from gone
    where
        array_contains(base.isr, broker_id)
        and size(array_except(base.isr, gone_since)) > 0
)

select * from final
