with stretches as (
    select * from {{ ref('int_cleaners__quiet_stretches') }}
),

-- The rhythm of the node's cleaner: how long, and over how many rolled segments, it was ever silent between two cleanings.
compared as (
    select
        *,
        lead(alive_at) over (in_order) as next_alive_at,
        lead(is_cleaning) over (in_order) as next_is_cleaning,
        unix_millis(last_rolled_at) - unix_millis(alive_at) as silent_ms
    from stretches
    window in_order as (
        partition by cluster_id, cluster_incarnation, node_id order by stretch_number
    )
),

paced as (
    select
        *,
        sum(cast(is_cleaning as int)) over (so_far) as cleanings_before,
        max(
            case
                when next_is_cleaning
                    then unix_millis(next_alive_at) - unix_millis(alive_at)
            end
        ) over (so_far) as longest_gap_ms,
        max(case when next_is_cleaning then segments_rolled end) over (so_far) as most_rolled
    from compared
    window so_far as (
        partition by cluster_id, cluster_incarnation, node_id
        order by stretch_number
        rows between unbounded preceding and 1 preceding
    )
),

judged as (
    select
        *,
        coalesce(
            cleanings_before >= 3
            and silent_ms > greatest({{ var('cleaner_silence_ms') }}, 4 * longest_gap_ms)
            and segments_rolled > greatest(4, 4 * most_rolled),
            false
        ) as is_silent
    from paced
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        node_id,
        cast(null as int) as cleaner_thread,
        cast(null as string) as topic_name,
        cast(null as int) as partition_id,
        coalesce(alive_at, dumped_at, measured_at) as stopped_at,
        coalesce(
            least(dumped_at, measured_at),
            alive_at
            + make_dt_interval(
                0, 0, 0, greatest({{ var('cleaner_silence_ms') }}, 4 * longest_gap_ms) / 1000.0
            )
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
        + if(coalesce(dumped_at, measured_at) is null, segments_rolled, 0) as evidence_count
    from judged
    where not is_told and (coalesce(dumped_at, measured_at) is not null or is_silent)
)

select * from final
