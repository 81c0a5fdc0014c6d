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

gaps as (
    select
        *,
        false as is_unheard
    from leader_gaps
    union all
    select
        *,
        false as is_unheard
    from controller_gaps
    union all
    select
        *,
        false as is_unheard
    from stale_nodes
    union all
    select
        * except (is_unheard),
        is_unheard
    from stale_caches
    union all
    select
        *,
        false as is_unheard
    from duplicate_owners
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
                'the node logged no epoch of any partition meanwhile: its log may be missing': 'is_unheard'
            })
        }} as warnings
    from gaps
)

select * from final
