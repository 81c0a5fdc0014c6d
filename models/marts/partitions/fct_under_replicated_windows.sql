{{ config(meta={'at': 'started_at'}) }}

with windows as (
    select * from {{ ref('int_partitions__under_replicated') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

ended as (
    {{ ended_with_incarnation('windows') }}
),

-- A set may change several times within a millisecond. Numbers of states would count what was loaded, and change with it.
numbered as (
    select
        *,
        cast(row_number() over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                replica_id,
                started_at
            order by first_state_number
        ) as int) as start_number
    from ended
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation', 'replica_id',
                'started_at', 'start_number'
            ])
        }} as under_replicated_window_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('replica_id') }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        replica_id,
        start_number,
        started_at,
        ended_at,
        {{ stretch() }},
        cast(started_at as date) as started_date,
        if(is_told, 'describe', 'log') as known_by,
        evidence,
        evidence_count,
        {{
            warnings({
                'no end in the logs': 'ended_at is null',
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'began before the first record': 'is_start_unknown and not is_told',
                'it began before started_at: this is when a describe first shows it': 'is_told',
                'started_at is the last change of the file: the describe names no time': 'is_dated_by_file',
                'it ended by ended_at: a describe shows the replica in sync': 'is_end_described and ended_at is not null',
                'a change of the in-sync set is missing: it may have begun or ended at another time, or been two': 'is_change_missing',
                'no record lists the replicas': 'not are_replicas_known',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'coalesce(ended_at, started_at) > doubtful_from'
            })
        }} as warnings
    from numbered
)

select * from final
