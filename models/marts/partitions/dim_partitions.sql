{#- Facts about partitions whose leaders, in-sync sets and replicas may be in no record. Of fct_epoch_gaps these are refusals alone. -#}
{%- set facts = [
    'fct_consumer_ownership_gaps',
    'fct_coordinator_loads',
    'fct_group_lag_status',
    'fct_hanging_transactions',
    'fct_leaderless_windows',
    'fct_log_cleaner_outages',
    'fct_offsets_topic_growth_hourly',
    'fct_remote_copy_stalls',
    'fct_tool_errors',
    'fct_truncations',
    'fct_write_refusals_hourly',
] -%}
with partitions as (
    select * from {{ ref('int_partitions__lives_described') }}
),

endings as (
    select * from {{ ref('int_partitions__endings') }}
),

refusals as (
    select * from {{ ref('int_epochs__stale_nodes') }}
),

named as (
    {%- for fact in facts %}
        select
            cluster_id,
            cluster_incarnation,
            topic_name,
            topic_incarnation,
            partition_id
        from {{ ref(fact) }}
        where topic_name is not null and partition_id is not null
        union
    {%- endfor %}
        select
            cluster_id,
            cluster_incarnation,
            topic_name,
            topic_incarnation,
            partition_id
        from refusals
        where topic_name is not null and partition_id is not null
),

final as (
    select
        {{ partition_key() }} as partition_key,
        {{ cluster_key() }} as cluster_key,
        {{ topic_key() }} as topic_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        replicas,
        get(replicas, 0) as preferred_leader_id,
        leader_id as last_leader_id,
        replication_factor,
        min_insync_replicas,
        first_seen_at,
        last_seen_at,
        ended_at
    from partitions
    full outer join named
        using (cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id)
    left join endings
        using (cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id)
)

select * from final
