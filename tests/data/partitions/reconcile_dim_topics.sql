-- Each incarnation of a topic with a recorded election, in-sync set or list of replicas is one row; others, which facts alone name, have no time.
with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

mart_rows as (
    select * from {{ ref('dim_topics') }}
    where first_seen_at is not null
),

distinct_keys as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation
    from epochs
    union
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation
    from states
    union
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation
    from replicas
),

expected as (
    select
        cluster_id,
        count(*) as topic_lives
    from distinct_keys
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as topic_lives
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.topic_lives as expected_topic_lives,
        found.topic_lives as found_topic_lives
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.topic_lives, 0) <> coalesce(found.topic_lives, 0)
)

select * from final
