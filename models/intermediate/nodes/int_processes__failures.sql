{{ config(materialized='table', file_format='parquet') }}

with signs as (
    select
        *,
        coalesce(cast(node_id as string), process_name) as process
    from {{ ref('int_processes__failure_signs') }}
),

starts as (
    select * from {{ ref('int_nodes__starts') }}
    where is_start
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- The starts of processes among what tells of their failures: what comes after a start is another failure.
marked as (
    select
        cluster_id,
        process,
        signed_at as marked_at,
        source_id,
        byte_offset,
        false as is_start,
        signed_at is null as is_undated,
        if(signed_at is null, kind.failure_kind, null) as undated_kind
    from signs
    union all
    select
        cluster_id,
        cast(node_id as string) as process,
        logged_at as marked_at,
        source_id,
        byte_offset,
        true as is_start,
        false as is_undated,
        cast(null as string) as undated_kind
    from starts
),

followed as (
    select
        *,
        max(if(is_start, marked_at, null)) over (before) as started_at,
        max(if(is_start, null, marked_at)) over (before) as previous_at
    from marked
    window before as (
        partition by cluster_id, process, is_undated, undated_kind
        order by marked_at, source_id, byte_offset
        rows between unbounded preceding and 1 preceding
    )
),

-- A process that fails says so several times; one that has run out of something may say so for long.
numbered as (
    select
        *,
        count_if(
            not is_start
            and (
                (previous_at is null and not is_undated)
                or started_at >= previous_at
                or marked_at > previous_at + interval 10 minutes
            )
        ) over (
            partition by cluster_id, process, is_undated, undated_kind
            order by marked_at, source_id, byte_offset
            rows between unbounded preceding and current row
        ) as failure_number
    from followed
),

signs_numbered as (
    select
        signs.*,
        numbered.undated_kind,
        numbered.failure_number
    from signs
    inner join numbered
        on
            signs.cluster_id = numbered.cluster_id
            and signs.source_id = numbered.source_id
            and signs.byte_offset = numbered.byte_offset
            and not numbered.is_start
),

failures as (
    select
        cluster_id,
        max(node_id) as node_id,
        max(process_name) as process_name,
        undated_kind,
        min(signed_at) as failed_at,
        max(signed_at) as last_sign_at,
        max(if(is_end, signed_at, null)) as ended_at,
        min(kind).failure_kind as failure_kind,
        min(reason).reason_kind as reason_kind,
        min(reason).exception as exception,
        min(reason).exception_message as exception_message,
        max(is_end) as is_end,
        max(is_capture) as is_capture,
        {{ evidence(at='signed_at') }} as evidence,
        count(*) as evidence_count
    from signs_numbered
    group by cluster_id, process, undated_kind, failure_number
    -- A step of a start that is tried again, and an error of a disk, are no failures of the process.
    having not min(is_context)
),

keyed as (
    select
        {{
            row_key([
                'cluster_id', 'process_name', 'if(failed_at is null, failure_kind, null)', 'failed_at'
            ])
        }} as process_failure_key,
        *
    from failures
),

placed as (
    {{ placed('keyed', at='failed_at') }}
),

final as (
    select
        process_failure_key,
        cluster_id,
        cluster_incarnation,
        node_id,
        process_name,
        undated_kind,
        failed_at,
        last_sign_at,
        ended_at,
        failure_kind,
        reason_kind,
        exception,
        exception_message,
        is_end,
        is_capture,
        evidence,
        evidence_count
    from placed
)

select * from final
