-- Every collection's pause over the threshold that the logs tell is evidence of one row.
with source_rows as (
    select * from {{ ref('stg_captures__gc_events') }}
),

mart_rows as (
    select * from {{ ref('fct_gc_pauses') }}
),

expected as (
    select
        cluster_id,
        count(*) as pauses
    from source_rows
    where
        row_kind = 'gc_pause' and inside_gc_id is null and duration_ms >= {{ var('gc_pause_ms') }}
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(evidence_count) as pauses
    from mart_rows
    where pause_kind not in ('safepoint', 'time_to_safepoint')
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.pauses as expected_pauses,
        found.pauses as found_pauses
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where coalesce(expected.pauses, 0) <> coalesce(found.pauses, 0)
)

select * from final
