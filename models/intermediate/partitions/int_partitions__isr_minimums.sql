with states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

topics as (
    select * from {{ ref('stg_captures__topics') }}
    where captured_at is not null and topic_name is not null
),

refusals as (
    select * from {{ ref('int_partitions__write_refusals') }}
    where min_insync_replicas is not null
),

topic_lives as (
    select * from {{ ref('int_topics__lives') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('topics', at='captured_at') }}
),

-- What a describe shows (nothing, if the topic leaves it to the brokers), and what a broker that refused a write enforced.
stated as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        coalesce(topic_lives.life_number, 1) as topic_incarnation,
        placed.captured_at as stated_at,
        struct(placed.min_insync_replicas) as described,
        cast(null as int) as enforced
    from placed
    left join topic_lives on {{ placed_in_life('placed', at='captured_at', lives='topic_lives') }}
    union all
    select
        refusals.cluster_id,
        refusals.cluster_incarnation,
        refusals.topic_name,
        coalesce(topic_lives.life_number, 1) as topic_incarnation,
        refusals.first_at as stated_at,
        cast(null as struct<min_insync_replicas: int>) as described,
        refusals.min_insync_replicas as enforced
    from refusals
    left join topic_lives on {{ placed_in_life('refusals', at='first_at', lives='topic_lives') }}
),

merged as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        stated_at,
        max(described) as described,
        max(enforced) as enforced
    from stated
    group by cluster_id, cluster_incarnation, topic_name, topic_incarnation, stated_at
),

-- As in the lists of replicas, what is stated first also holds before it.
carried as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        stated_at,
        coalesce(
            last_value(described, true) over (so_far).min_insync_replicas,
            last_value(enforced, true) over (so_far),
            first_value(enforced, true) over (whole)
        ) as min_insync_replicas
    from merged
    window
        so_far as (
            partition by cluster_id, cluster_incarnation, topic_name, topic_incarnation
            order by stated_at
            rows between unbounded preceding and current row
        ),
        whole as (
            partition by cluster_id, cluster_incarnation, topic_name, topic_incarnation
            order by stated_at
            rows between unbounded preceding and unbounded following
        )
),

compared as (
    select
        *,
        lag(struct(min_insync_replicas)) over (
            partition by cluster_id, cluster_incarnation, topic_name, topic_incarnation
            order by stated_at
        ) as previous
    from carried
),

-- One row per minimum of a topic, from when to when it held.
minimums as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        min_insync_replicas,
        if(previous is null, timestamp '1970-01-01 00:00:00', stated_at) as valid_from,
        coalesce(
            lead(stated_at) over (
                partition by cluster_id, cluster_incarnation, topic_name, topic_incarnation
                order by stated_at
            ),
            timestamp '9999-01-01 00:00:00'
        ) as valid_to
    from compared
    where previous is null or not previous.min_insync_replicas <=> min_insync_replicas
),

final as (
    select
        states.cluster_id,
        states.cluster_incarnation,
        states.topic_name,
        states.partition_id,
        states.topic_incarnation,
        states.state_number,
        minimums.min_insync_replicas,
        size(states.isr_members) < minimums.min_insync_replicas as is_under_min_isr,
        greatest(states.changed_at, minimums.valid_from) as started_at,
        nullif(
            least(
                coalesce(states.next_changed_at, timestamp '9999-01-01 00:00:00'), minimums.valid_to
            ),
            timestamp '9999-01-01 00:00:00'
        ) as ended_at
    from states
    inner join minimums
        on
            states.cluster_id = minimums.cluster_id
            and states.cluster_incarnation = minimums.cluster_incarnation
            and states.topic_name = minimums.topic_name
            and states.topic_incarnation = minimums.topic_incarnation
            and states.changed_at < minimums.valid_to
            and coalesce(states.next_changed_at > minimums.valid_from, true)
    where minimums.min_insync_replicas is not null
)

select * from final
