with capture_rows as (
    select * from {{ ref('base_captures__rows') }}
),

final as (
    select
        cluster_id,
        node_id,
        captured_at,
        captured_known_by,
        event_date,
        source_id,
        source_path,
        byte_offset,
        row_number,
        {{ field('mounted_on') }} as mounted_on,
        {{ field('size_bytes', 'bigint') }} as size_bytes,
        {{ field('available_bytes', 'bigint') }} as available_bytes
    from capture_rows
    where
        row_kind = 'file_system'
        -- Read-only images are always full; what lies in memory is no disk.
        and coalesce({{ field('file_system_type') }}, '') not in (
            'squashfs', 'iso9660', 'tmpfs', 'devtmpfs', 'efivarfs'
        )
        and {{ field('file_system') }} not in ('tmpfs', 'devtmpfs', 'udev', 'efivarfs', 'shm')
        and {{ field('file_system') }} not like '/dev/loop%'
        and {{ field('size_bytes', 'bigint') }} > 0
        and {{ field('available_bytes', 'bigint') }} is not null
)

select * from final
