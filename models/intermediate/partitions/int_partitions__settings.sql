with lives as (
    select
        *,
        lead(first_seen_at) over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id
            order by topic_incarnation
        ) as next_seen_at
    from {{ ref('int_partitions__lives') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

described as (
    select * from {{ ref('stg_captures__topics') }}
    where has_settings and captured_at is not null
),

logged as (
    select * from {{ ref('stg_logs__topic_settings') }}
    where coalesce(setting, 'min.insync.replicas') = 'min.insync.replicas'
),

refusals as (
    select * from {{ ref('int_partitions__write_refusals') }}
    where min_insync_replicas is not null
),

minima as (
    select * from {{ ref('stg_logs__broker_minima') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

told as (
    select
        cluster_id,
        topic_name,
        captured_at as stated_at,
        source_path,
        byte_offset,
        min_insync_replicas
    from described
    union all
    select
        cluster_id,
        topic_name,
        logged_at as stated_at,
        source_path,
        byte_offset,
        min_insync_replicas
    from logged
),

placed as (
    {{ placed('told', at='stated_at') }}
),

-- What is set for a topic, where it is told for the first time or anew.
topic_settings as (
    select
        *,
        lag(struct(min_insync_replicas)) over (
            partition by cluster_id, cluster_incarnation, topic_name
            order by stated_at, source_path, byte_offset
        ) as previous
    from placed
),

-- What holds for topics for which nothing is set, as the brokers print it.
broker_settings as (
    select
        *,
        lag(min_insync_replicas) over (
            partition by cluster_id order by logged_at, source_path, byte_offset
        ) as previous
    from minima
),

-- One row per partition and record that says something about it: which replicas it has, whether a minimum is set for its topic, which
-- one is not met, or what the brokers ask for.
statements as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at as stated_at,
        source_path,
        byte_offset,
        replicas,
        cast(null as struct<min_insync_replicas: int>) as topic_setting,
        cast(null as int) as refused_under,
        cast(null as int) as broker_setting
    from replicas
    union all
    select
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        topic_settings.stated_at,
        topic_settings.source_path,
        topic_settings.byte_offset,
        cast(null as array<int>) as replicas,
        named_struct('min_insync_replicas', topic_settings.min_insync_replicas) as topic_setting,
        cast(null as int) as refused_under,
        cast(null as int) as broker_setting
    from topic_settings
    inner join lives
        on
            topic_settings.cluster_id = lives.cluster_id
            and topic_settings.cluster_incarnation = lives.cluster_incarnation
            and topic_settings.topic_name = lives.topic_name
            and (
                topic_settings.stated_at >= lives.first_seen_at - interval 1 minute
                or lives.topic_incarnation = 1
            )
            and coalesce(topic_settings.stated_at < lives.next_seen_at, true)
    where
        topic_settings.previous is null
        or not topic_settings.previous.min_insync_replicas <=> topic_settings.min_insync_replicas
    union all
    select
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        refusals.first_at as stated_at,
        refusals.evidence[0].source_path as source_path,
        refusals.evidence[0].byte_offset as byte_offset,
        cast(null as array<int>) as replicas,
        cast(null as struct<min_insync_replicas: int>) as topic_setting,
        refusals.min_insync_replicas as refused_under,
        cast(null as int) as broker_setting
    from refusals
    inner join lives
        on
            refusals.cluster_id = lives.cluster_id
            and refusals.cluster_incarnation = lives.cluster_incarnation
            and refusals.topic_name = lives.topic_name
            and refusals.partition_id = lives.partition_id
            and (refusals.first_at >= lives.first_seen_at or lives.topic_incarnation = 1)
            and coalesce(refusals.first_at < lives.next_seen_at, true)
    union all
    select
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        broker_settings.logged_at as stated_at,
        broker_settings.source_path,
        broker_settings.byte_offset,
        cast(null as array<int>) as replicas,
        cast(null as struct<min_insync_replicas: int>) as topic_setting,
        cast(null as int) as refused_under,
        broker_settings.min_insync_replicas as broker_setting
    from broker_settings
    inner join lives
        on
            broker_settings.cluster_id = lives.cluster_id
            and coalesce(broker_settings.logged_at < lives.next_seen_at, true)
    where
        broker_settings.previous is null
        or broker_settings.previous <> broker_settings.min_insync_replicas
),

-- What is known at the time of each of them; of those of the same time, the last.
followed as (
    select
        *,
        last_value(replicas, true) over (so_far) as known_replicas,
        last_value(
            if(topic_setting is null, null, struct(stated_at, topic_setting)), true
        ) over (so_far) as set_for_topic,
        last_value(
            if(refused_under is null, null, struct(stated_at, refused_under)), true
        ) over (so_far) as refused,
        last_value(broker_setting, true) over (so_far) as set_for_brokers,
        lead(stated_at) over (in_order) as next_stated_at
    from statements
    window
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ),
        in_order as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at, source_path, byte_offset
        )
),

-- A refusal states the minimum that held; what is set later for the topic takes its place. What the brokers ask for holds where it
-- is known that nothing is set for the topic.
decided as (
    select
        *,
        case
            when
                refused is not null
                and coalesce(refused.stated_at >= set_for_topic.stated_at, true)
                then refused.refused_under
            when set_for_topic is not null
                then coalesce(set_for_topic.topic_setting.min_insync_replicas, set_for_brokers)
        end as known_minimum
    from followed
    where next_stated_at is null or next_stated_at > stated_at
),

-- The first that is known also holds before it, as far as anybody knows.
extended as (
    select
        * except (replicas, known_replicas, known_minimum),
        coalesce(known_replicas, first_value(known_replicas, true) over (whole)) as replicas,
        min(if(known_replicas is null, null, stated_at)) over (whole) as replicas_known_from,
        case
            when known_minimum is not null then known_minimum
            when count(known_minimum) over (so_far) = 0
                then first_value(known_minimum, true) over (whole)
        end as min_insync_replicas,
        min(if(known_minimum is null, null, stated_at)) over (whole) as minimum_known_from
    from decided
    window
        whole as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at
            rows between unbounded preceding and unbounded following
        ),
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at
            rows between unbounded preceding and current row
        )
),

compared as (
    select
        *,
        lag(struct(replicas, min_insync_replicas)) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at
        ) as previous
    from extended
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        if(previous is null, timestamp '1970-01-01 00:00:00', stated_at) as valid_from,
        lead(stated_at) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by stated_at
        ) as valid_to,
        replicas,
        cast(if(replicas is null, null, size(replicas)) as int) as replication_factor,
        min_insync_replicas,
        greatest(replicas_known_from, minimum_known_from) as known_from
    from compared
    where
        (replicas is not null or min_insync_replicas is not null)
        and (
            previous is null
            or not previous.replicas <=> replicas
            or not previous.min_insync_replicas <=> min_insync_replicas
        )
)

select * from final
