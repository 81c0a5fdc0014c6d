with gc_events as (
    select * from {{ ref('stg_captures__gc_events') }}
),

collections as (
    select *
    from gc_events
    where row_kind = 'gc_pause' and inside_gc_id is null
),

-- A pause is also a safepoint: of a safepoint only what its collections do not explain is told.
final as (
    select
        safepoints.cluster_id,
        safepoints.source_id,
        safepoints.byte_offset,
        safepoints.row_number,
        coalesce(sum(collections.duration_ms), 0) as explained_ms
    from gc_events as safepoints
    left join collections
        on
            safepoints.cluster_id = collections.cluster_id
            and safepoints.process_name = collections.process_name
            -- Stamps of JDK 8 are whole milliseconds.
            and collections.started_at >= safepoints.started_at - interval 2 milliseconds
            and safepoints.ended_at > collections.started_at
    where
        safepoints.row_kind = 'safepoint'
        and safepoints.duration_ms >= {{ var('gc_pause_ms') }}
    group by
        safepoints.cluster_id, safepoints.source_id, safepoints.byte_offset, safepoints.row_number
)

select * from final
