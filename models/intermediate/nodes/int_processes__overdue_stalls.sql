with late_words as (
    select * from {{ ref('int_processes__overdue_messages') }}
),

holes as (
    select * from {{ ref('int_processes__log_silences') }}
),

minutes as (
    select * from {{ ref('int_processes__minutes') }}
),

-- The message follows the silence within 300 ms: in the second in which it ended, or in the next.
ended_holes as (
    select
        *,
        explode(
            sequence(unix_seconds(resumed_at), unix_seconds(resumed_at + interval 300 milliseconds))
        ) as ended_second
    from holes
),

-- A message counts if the silence before it is about as long as the message is late; if it is less
-- than `stall_ms` late, only if the silence began during the wait.
behind_silences as (
    select
        late_words.cluster_id,
        late_words.process_name,
        late_words.node_id,
        greatest(
            ended_holes.silent_from,
            late_words.logged_at - make_dt_interval(0, 0, 0, late_words.waited_ms / 1000.0)
        ) as started_at,
        ended_holes.resumed_at as ended_at,
        late_words.logged_at,
        late_words.source_path,
        late_words.byte_offset
    from late_words
    inner join ended_holes
        on
            late_words.cluster_id = ended_holes.cluster_id
            and late_words.process_name = ended_holes.process_name
            and unix_seconds(late_words.logged_at) = ended_holes.ended_second
            and late_words.logged_at >= ended_holes.resumed_at
            and late_words.logged_at <= ended_holes.resumed_at + interval 300 milliseconds
            and ended_holes.silence_ms >= late_words.late_ms * 0.9
    where
        not {{ has_role('zookeeper_pause', 'late_words.event_type') }}
        and late_words.late_ms >= 100
        and (
            late_words.late_ms >= {{ var('stall_ms') }}
            or ended_holes.silent_from
            >= late_words.logged_at - make_dt_interval(0, 0, 0, late_words.waited_ms / 1000.0)
        )
),

-- Of a log that begins with such a message nobody knows whether the process was silent before. A controller handles one event after the other,
-- and says itself that it was at this one for minutes.
first_minutes as (
    select
        cluster_id,
        process_name,
        min(minute_at) as minute_at
    from minutes
    group by cluster_id, process_name
),

first_words as (
    select
        late_words.cluster_id,
        late_words.process_name,
        late_words.node_id,
        late_words.logged_at
        - make_dt_interval(0, 0, 0, late_words.waited_ms / 1000.0) as started_at,
        late_words.logged_at as ended_at,
        late_words.logged_at,
        late_words.source_path,
        late_words.byte_offset
    from late_words
    inner join first_minutes
        on
            late_words.cluster_id = first_minutes.cluster_id
            and late_words.process_name = first_minutes.process_name
            and late_words.logged_at < first_minutes.minute_at + interval 1 minute
    where
        {{ has_role(
            ['controller_event_delay', 'controller_event_failure'], 'late_words.event_type'
        ) }}
        and late_words.waited_ms >= 60000
),

final as (
    select * from behind_silences
    union all
    select * from first_words
)

select * from final
