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

gaps as (
    select
        *,
        false as is_unheard,
        false as is_dated_late
    from leader_gaps
    union all
    select
        *,
        false as is_unheard,
        false as is_dated_late
    from controller_gaps
    union all
    select
        *,
        false as is_unheard,
        false as is_dated_late
    from stale_nodes
    union all
    select
        * except (is_unheard, is_dated_late),
        is_unheard,
        is_dated_late
    from stale_caches
    union all
    select
        *,
        false as is_unheard,
        false as is_dated_late
    from duplicate_owners
),

-- The log of the node may have a hole meanwhile.
judged as (
    select
        gaps.*,
        exists(
            select 1
            from silences
            where
                silences.cluster_id = gaps.cluster_id
                and silences.process_name = concat('node ', gaps.node_id)
                and silences.silent_from >= gaps.opened_at
                and silences.resumed_at <= coalesce(gaps.closed_at, silences.resumed_at)
        ) as is_silent
    from gaps
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'epoch_kind', 'gap_kind', 'topic_name', 'partition_id',
                'topic_incarnation', 'node_id', 'found_epoch', 'opened_at'
            ])
        }} as epoch_gap_key,
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        gap_kind,
        topic_name,
        partition_id,
        node_id,
        expected_epoch,
        found_epoch,
        missing_epochs,
        opened_at,
        closed_at,
        cast(opened_at as date) as opened_date,
        unix_millis(closed_at) - unix_millis(opened_at) as duration_ms,
        evidence,
        evidence_count,
        {{
            warnings({
                'the missing epochs may be in logs that were not ingested': "gap_kind = 'skipped'",
                'the node may have had the epoch: its log may be missing meanwhile': 'is_unheard',
                'the log of the node has nothing for much longer than usual: it may have been restarted meanwhile': 'is_silent',
                'neither its leader nor a controller reports the election in time: it may have begun before opened_at':
                    'is_dated_late'
            })
        }} as warnings
    from judged
)

select * from final
