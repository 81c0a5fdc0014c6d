{{ config(meta={'at': 'opened_at'}) }}

with leader_gaps as (
    select * from {{ ref('int_epochs__leader_gaps') }}
),

controller_gaps as (
    select * from {{ ref('int_epochs__controller_gaps') }}
),

stale_nodes as (
    select * from {{ ref('int_epochs__stale_nodes') }}
),

stale_caches as (
    select * from {{ ref('int_epochs__stale_caches') }}
),

duplicate_owners as (
    select * from {{ ref('int_epochs__duplicate_owners') }}
),

silences as (
    select * from {{ ref('int_processes__long_silences') }}
),

sessions as (
    select * from {{ ref('int_sessions__ended') }}
    where session_kind = 'zookeeper_broker' and noticed_at is null
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

observed as (
    select * from {{ ref('int_clusters__observed') }}
),

gaps as (
    select
        *,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as end_evidence,
        false as is_unheard,
        false as is_dated_late
    from leader_gaps
    union all
    select
        *,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as end_evidence,
        false as is_unheard,
        false as is_dated_late
    from controller_gaps
    union all
    select
        *,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as end_evidence,
        false as is_unheard,
        false as is_dated_late
    from stale_nodes
    union all
    select
        * except (is_unheard, is_dated_late, end_evidence),
        end_evidence,
        is_unheard,
        is_dated_late
    from stale_caches
    union all
    select
        *,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as end_evidence,
        false as is_unheard,
        false as is_dated_late
    from duplicate_owners
),

-- Whether the log of a node may have a hole while it was behind.
silence_checked as (
    select
        gaps.*,
        count(silences.cluster_id) > 0 as is_silent
    from gaps
    left join silences
        on
            gaps.cluster_id = silences.cluster_id
            and silences.process_name = concat('node ', gaps.node_id)
            and gaps.opened_at <= silences.silent_from
            and coalesce(gaps.closed_at >= silences.resumed_at, true)
    group by all
),

-- Sessions of the node that expired while it was behind: a process that lives on logs it when it reaches ZooKeeper again.
judged as (
    select
        silence_checked.*,
        count(sessions.cluster_id) > 0 as has_unnoticed_expiry
    from silence_checked
    left join sessions
        on
            silence_checked.cluster_id = sessions.cluster_id
            and silence_checked.node_id = sessions.node_id
            and silence_checked.opened_at <= sessions.expired_at
            and silence_checked.closed_at > sessions.expired_at
    group by all
),

stretches as (
    select
        * except (closed_at),
        closed_at as ended_at
    from judged
),

ended as (
    {{ ended_with_incarnation('stretches') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'epoch_kind', 'gap_kind', 'topic_name', 'partition_id',
                'topic_incarnation', 'node_id', 'found_epoch', 'opened_at'
            ])
        }} as epoch_gap_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key() }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        gap_kind,
        topic_name,
        topic_incarnation,
        partition_id,
        node_id,
        expected_epoch,
        found_epoch,
        missing_epochs,
        opened_at,
        ended_at,
        {{ stretch(start='opened_at') }},
        cast(opened_at as date) as opened_date,
        if(is_end_placed, null, end_evidence) as end_evidence,
        evidence,
        evidence_count,
        {{
            warnings({
                'it had no end when the next incarnation of the cluster began': 'is_end_placed and ended_at is not null',
                'the missing epochs may be in logs that were not ingested': "gap_kind = 'skipped'",
                'the node may have had the epoch: its log may be missing meanwhile': 'is_unheard',
                'the log of the node has nothing for much longer than usual: it may have been restarted meanwhile': 'is_silent',
                'its session expired meanwhile, and its log does not say so: it may have been restarted': 'has_unnoticed_expiry',
                'neither its leader nor a controller reports the election in time: it may have begun before opened_at':
                    'is_dated_late',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'coalesce(ended_at, opened_at) > doubtful_from'
            })
        }} as warnings
    from ended
)

select * from final
