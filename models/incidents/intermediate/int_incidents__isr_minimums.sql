with states as (
    select *
    from {{ ref('int_partitions__isr_states') }}
    where coalesce(changed_at < next_changed_at, true)
),

settings as (
    select *
    from {{ ref('dim_partition_settings') }}
    where min_insync_replicas is not null
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

compared as (
    select
        states.cluster_id,
        states.cluster_incarnation,
        states.topic_name,
        states.partition_id,
        states.topic_incarnation,
        states.state_number,
        size(states.isr_members) < settings.min_insync_replicas as is_under_min_isr,
        greatest(states.changed_at, settings.valid_from) as started_at,
        least(states.next_changed_at, settings.valid_to) as ended_at,
        coalesce(
            settings.known_from > least(states.next_changed_at, settings.valid_to), false
        ) as is_known_later
    from states
    inner join settings
        on
            states.cluster_id = settings.cluster_id
            and states.cluster_incarnation = settings.cluster_incarnation
            and states.topic_name = settings.topic_name
            and states.topic_incarnation = settings.topic_incarnation
            and states.partition_id = settings.partition_id
            and coalesce(states.changed_at < settings.valid_to, true)
            and coalesce(states.next_changed_at > settings.valid_from, true)
),

-- A state may follow another with the same set: a new leader epoch begins with the set of the one before.
continued as (
    select
        *,
        lag(is_under_min_isr) over (of_partition) <=> is_under_min_isr
        and lag(is_known_later) over (of_partition) <=> is_known_later
        and lag(ended_at) over (of_partition) <=> started_at as is_as_before
    from compared
    window of_partition as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
        order by state_number, started_at
    )
),

numbered as (
    select
        *,
        count_if(not is_as_before) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by state_number, started_at
            rows between unbounded preceding and current row
        ) as stretch_number
    from continued
),

stretches as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        stretch_number,
        is_under_min_isr,
        is_known_later,
        min(started_at) as started_at,
        if(count(ended_at) = count(*), max(ended_at), null) as ended_at
    from numbered
    group by all
),

ended as (
    {{ ended_with_incarnation('stretches') }}
),

final as (
    select
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        is_under_min_isr,
        started_at,
        ended_at,
        is_known_later
    from ended
)

select * from final
