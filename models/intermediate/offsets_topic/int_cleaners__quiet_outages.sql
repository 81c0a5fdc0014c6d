with stretches as (
    select * from {{ ref('int_cleaners__paced_stretches') }}
),

cleanings as (
    select * from {{ ref('int_cleaners__signs') }}
    where sign = 'alive' and reported_by in ('cleaning', 'cleaning_begun')
),

-- How often the cleaners of other nodes ran while this one was silent.
accompanied as (
    select
        stretches.cluster_id,
        stretches.cluster_incarnation,
        stretches.node_id,
        stretches.stretch_number,
        count(*) as cleanings_beside
    from stretches
    inner join cleanings
        on
            stretches.cluster_id = cleanings.cluster_id
            and stretches.cluster_incarnation = cleanings.cluster_incarnation
            and stretches.node_id <> cleanings.node_id
            and stretches.alive_at < cleanings.signed_at
            and coalesce(stretches.next_alive_at > cleanings.signed_at, true)
    where
        stretches.cleanings_before >= 3
        and stretches.hours_with_records * 3600000 > stretches.usual_silence_ms
    group by
        stretches.cluster_id,
        stretches.cluster_incarnation,
        stretches.node_id,
        stretches.stretch_number
),

-- There was something to clean: the node's own segments show it, or the cleaners of its neighbours.
judged as (
    select
        stretches.*,
        coalesce(
            stretches.cleanings_before >= 3
            -- A run over a large log may take the better part of a day.
            and not (stretches.is_run_open and stretches.hours_with_records <= 24)
            and (
                (
                    stretches.silent_ms > stretches.usual_silence_ms
                    and stretches.segments_rolled > greatest(4, 4 * stretches.max_rolled)
                )
                or accompanied.cleanings_beside >= 4
            ),
            false
        ) as is_silent
    from stretches
    left join accompanied
        using (cluster_id, cluster_incarnation, node_id, stretch_number)
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cast(null as string) as process_name,
        cast(null as int) as cleaner_thread,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        false as is_partition_concluded,
        'cleaner' as scope,
        coalesce(alive_at, dumped_at, measured_at) as stopped_at,
        coalesce(
            least(dumped_at, measured_at),
            alive_at
            + make_dt_interval(0, 0, 0, usual_silence_ms / 1000.0)
        ) as noticed_at,
        next_alive_at as resumed_at,
        case
            when dumped_at is not null then 'thread_dump'
            when measured_at is not null then 'metric'
            else 'silence'
        end as found_by,
        cast(null as string) as cause,
        if(
            coalesce(dumped_at, measured_at) is null,
            slice(concat(evidence, roll_evidence), 1, 10),
            evidence
        ) as evidence,
        evidence_count
        + if(coalesce(dumped_at, measured_at) is null, segments_rolled, 0) as evidence_count,
        if(next_alive_at is null, null, next_alive_evidence) as end_evidence
    from judged
    where not is_death_logged and (coalesce(dumped_at, measured_at) is not null or is_silent)
)

select * from final
