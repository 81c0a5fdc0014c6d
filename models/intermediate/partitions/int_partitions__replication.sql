with states as (
    select * from {{ ref('int_partitions__isr_ordered') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

-- In-sync sets and replica sets in one line of time; of what is told at the same moment the replicas come first.
told as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        changed_at as told_at,
        state_number,
        isr_members,
        stated_before,
        cast(null as array<int>) as replicas,
        evidence,
        evidence_count
    from states
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        told_at,
        0 as state_number,
        cast(null as array<int>) as isr_members,
        cast(null as array<int>) as stated_before,
        replicas,
        evidence,
        1 as evidence_count
    from replicas
),

-- Before the first word on the replicas that word holds; where there is none at all, all that were ever in sync.
carried as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        told_at,
        row_number() over (life) as place,
        last_value(isr_members, true) over (so_far) as isr_members,
        coalesce(last_value(replicas, true) over (so_far), first_value(replicas, true) over (whole))
            as replicas,
        array_sort(
            array_union(
                flatten(collect_set(isr_members) over (whole)),
                flatten(collect_set(stated_before) over (whole))
            )
        ) as members_ever,
        stated_before,
        evidence,
        evidence_count
    from told
    window
        life as (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
            order by told_at, state_number, array_join(replicas, ',')
        ),
        so_far as (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
            order by told_at, state_number, array_join(replicas, ',')
            rows between unbounded preceding and current row
        ),
        whole as (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
            order by told_at, state_number, array_join(replicas, ',')
            rows between unbounded preceding and unbounded following
        )
),

final as (
    select
        *,
        replicas is not null as are_replicas_known,
        lag(told_at) over (life) is null as is_first,
        array_except(coalesce(replicas, members_ever), isr_members) as out_of_sync,
        lead(told_at) over (life) as next_told_at,
        lead(evidence) over (life) as next_evidence,
        lead(evidence_count) over (life) as next_evidence_count
    from carried
    where isr_members is not null
    window life as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
        order by place
    )
)

select * from final
