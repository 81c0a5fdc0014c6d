with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        {{ process_name() }} as process_name,
        captured_at,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('dump_number', 'int') }} as dump_number,
        {{ field('found_by') }} as found_by,
        from_json({{ field('threads') }}, 'array<string>') as threads,
        from_json({{ field('waiters') }}, 'array<string>') as waiters,
        from_json({{ field('waits_for') }}, 'array<string>') as waits_for,
        from_json({{ field('waits_for_classes') }}, 'array<string>') as waits_for_classes,
        from_json({{ field('held_by') }}, 'array<string>') as held_by,
        from_json({{ field('waiting_threads') }}, 'array<string>') as waiting_threads,
        from_json({{ field('members') }}, 'array<string>') as members,
        warnings
    from capture_rows
    where row_kind = 'deadlock'
)

select * from final
