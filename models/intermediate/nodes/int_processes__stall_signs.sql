with late_words as (
    select * from {{ ref('int_processes__overdue_messages') }}
),

unanswered as (
    select * from {{ ref('int_processes__expired_peers') }}
),

unheard as (
    select * from {{ ref('int_processes__missed_silences') }}
),

fencers as (
    select * from {{ ref('int_processes__fencing_silences') }}
),

pauses as (
    select * from {{ ref('int_processes__pauses') }}
),

late as (
    select * from {{ ref('int_processes__overdue_stalls') }}
),

clients as (
    select * from {{ ref('int_clients__named') }}
),

noticed as (
    select
        late.*,
        'late_tick' as found_by,
        cast(null as bigint) as cpu_ms
    from late
    union all
    select
        cluster_id,
        process_name,
        node_id,
        logged_at - make_dt_interval(0, 0, 0, waited_ms / 1000.0) as started_at,
        logged_at as ended_at,
        logged_at,
        source_path,
        byte_offset,
        'late_tick' as found_by,
        cast(null as bigint) as cpu_ms
    from late_words
    where {{ has_role('zookeeper_pause') }}
    union all
    select
        cluster_id,
        process_name,
        node_id,
        started_at,
        ended_at,
        logged_at,
        source_path,
        byte_offset,
        'hole' as found_by,
        cast(null as bigint) as cpu_ms
    from unanswered
    union all
    select
        *,
        'hole' as found_by,
        cast(null as bigint) as cpu_ms
    from unheard
    union all
    select
        cluster_id,
        process_name,
        node_id,
        started_at,
        ended_at,
        logged_at,
        source_path,
        byte_offset,
        'hole' as found_by,
        cast(null as bigint) as cpu_ms
    from fencers
    union all
    select
        cluster_id,
        process_name,
        node_id,
        started_at,
        ended_at,
        started_at as logged_at,
        evidence[0].source_path as source_path,
        evidence[0].byte_offset as byte_offset,
        'pause_without_cpu' as found_by,
        cast(round(cpu_ms) as bigint) as cpu_ms
    from pauses
    where started_at is not null and cpu_ms < duration_ms / 2
),

long_enough as (
    select *
    from noticed
    where unix_millis(ended_at) - unix_millis(started_at) >= {{ var('stall_ms') }}
),

final as (
    {{ with_owner('long_enough', at='started_at') }}
)

select * from final
