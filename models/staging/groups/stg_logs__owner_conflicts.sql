with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

-- `/consumers/<group>/owners/<topic>/<partition>` holds the thread that owns a partition: its consumer's id, a hyphen and its number.
parted as (
    select
        {{ event_columns() }},
        split({{ field('znode_path') }}, '/') as parts,
        {{ field('znode_data_stored') }} as thread_stored
    from events
    where {{ has_role('znode_conflict') }} and fields['znode_path'] like '/consumers/%/owners/%/%'
),

final as (
    select
        * except (parts, thread_stored),
        parts[2] as group_id,
        parts[4] as topic_name,
        try_cast(parts[5] as int) as partition_id,
        left(
            thread_stored,
            greatest(
                0, length(thread_stored) - length(substring_index(thread_stored, '-', -1)) - 1
            )
        ) as owner_id
    from parted
    where thread_stored is not null
)

select * from final
