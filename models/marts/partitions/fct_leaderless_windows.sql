{{ config(meta={'at': 'started_at'}) }}

with windows as (
    select * from {{ ref('int_partitions__leaderless_windows') }}
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

-- Brokers that were all stopped on purpose elect nobody: that is no outage.
stopped as (
    select
        * except (ended_at, is_end_placed),
        coalesce(
            ended_at, if(all_stopped_at is null, null, greatest(started_at, all_stopped_at))
        ) as ended_at,
        is_end_placed and ended_at is not null as is_end_placed,
        ended_at is null and all_stopped_at is not null as is_stopped
    from ended
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation',
                "coalesce(cast(first_epoch as string), concat('told at ', started_at))"
            ])
        }} as leaderless_window_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('last_leader_id') }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        first_epoch,
        started_at,
        ended_at,
        {{ stretch() }},
        cast(started_at as date) as started_date,
        isr,
        last_leader_id,
        known_by,
        if(is_end_placed or is_stopped, null, end_evidence) as end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'no end in the logs': 'ended_at is null',
                'it had no end when the next incarnation of the cluster began': 'is_end_placed',
                'it had no end when all brokers had been stopped: ended_at is when the last one was': 'is_stopped',
                'it began before started_at: this is when it was first known to have no leader': 'is_told',
                'started_at is the last change of the file: the describe names no time': 'is_dated_by_file',
                'it ended by ended_at: a describe names a leader': 'is_end_described',
                'the previous epoch is missing': 'not coalesce(is_start_known, false)',
                'derived: the leader was the only in-sync replica when it lost leadership': 'is_derived',
                'the next election names it: it began before started_at': 'is_start_late',
                'a later epoch is missing: there may have been a leader before ended_at': 'is_epoch_missing',
                'neither the next leader nor a controller reports its election in time: it may have ended before ended_at': 'coalesce(is_end_late, false)',
                'derived: nobody is in sync if the cluster keeps eligible leader replicas, and no record says whether it does': 'is_isr_doubtful',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'coalesce(ended_at, started_at) > doubtful_from'
            })
        }} as warnings
    from stopped
)

select * from final
