{{ config(materialized='table', meta={'at': 'logged_at'}) }}

with records as (
    select * from {{ source('bronze', 'log_records') }}
),

-- The wording is the JVM's and the system's: it appears in any message, and in the stack traces
-- below it.
final as (
    select
        cluster_id,
        {{ writer_id() }} as node_id,
        {{ process_name(of_record=true) }} as process_name,
        logged_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        case
            when contains(raw_text, 'Map failed') then 'memory_maps'
            when contains(raw_text, 'Too many open files') then 'open_files'
            when
                contains(raw_text, 'unable to create new native thread')
                or contains(raw_text, 'unable to create native thread')
                then 'threads'
            when contains(raw_text, 'There is insufficient memory for the Java') then 'native_bytes'
            when
                contains(raw_text, 'OutOfMemoryError: Metaspace')
                or contains(raw_text, 'OutOfMemoryError: Compressed class space')
                then 'metaspace_bytes'
            when
                contains(raw_text, 'OutOfMemoryError: Direct buffer memory')
                or contains(raw_text, 'OutOfMemoryError: Cannot reserve')
                then 'direct_bytes'
            when contains(raw_text, 'A fatal error has been detected by the Java') then 'jvm'
            else 'heap_bytes'
        end as resource,
        case
            when contains(raw_text, 'GC overhead limit exceeded') then 'GC overhead limit exceeded'
            when contains(raw_text, 'Java heap space') then 'Java heap space'
        end as heap_message,
        contains(raw_text, 'ing due to java.lang.OutOfMemoryError: ')
        or contains(raw_text, '# There is insufficient memory for the Java Runtime Environment')
        or contains(raw_text, '# A fatal error has been detected by the Java Runtime')
            as is_end
    from records
    where
        {{ in_built_clusters() }}
        -- A record without a time belongs to its day.
        and ({{ since('logged_at') }} or (logged_at is null and {{ since('event_date') }}))
        and (
            coalesce(level, 'ERROR') in ('WARN', 'ERROR', 'FATAL')
            -- What a JVM prints when it ends itself (Terminating or Aborting due to …, the head of a fatal error report) may follow
            -- whatever was the last record of the file.
            or contains(raw_text, chr(10))
        )
        and (
            contains(raw_text, 'ing due to java.lang.OutOfMemoryError: ')
            or contains(raw_text, '# There is insufficient memory for the Java Runtime Environment')
            or contains(raw_text, '# A fatal error has been detected by the Java Runtime')
            or (
                coalesce(level, 'ERROR') in ('WARN', 'ERROR', 'FATAL')
                and (
                    contains(raw_text, 'Map failed')
                    or contains(raw_text, 'Too many open files')
                    or contains(raw_text, 'unable to create new native thread')
                    or contains(raw_text, 'unable to create native thread')
                    or contains(raw_text, 'OutOfMemoryError: Java heap space')
                    or contains(raw_text, 'OutOfMemoryError: GC overhead limit exceeded')
                    or contains(raw_text, 'OutOfMemoryError: Metaspace')
                    or contains(raw_text, 'OutOfMemoryError: Compressed class space')
                    or contains(raw_text, 'OutOfMemoryError: Direct buffer memory')
                    or contains(raw_text, 'OutOfMemoryError: Cannot reserve')
                    or contains(raw_text, 'OutOfMemoryError thrown from the Uncaught')
                )
            )
        )
)

select * from final
