with samples as (
    select * from {{ ref('int_groups__lag_samples') }}
),

-- An answer of Burrow has the lag at its time: it tells how a window of commits ends, and is none of them.
followed as (
    select
        *,
        last_value(committed_offset, true) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
            order by sampled_at
            rows between unbounded preceding and 1 preceding
        ) as previous_offset,
        coalesce(
            committed_offset,
            last_value(committed_offset, true) over (
                partition by
                    cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
                order by sampled_at
                rows between unbounded preceding and 1 preceding
            )
        )
        + lag as end_offset,
        coalesce(
            last_value(
                case when sample_kind <> 'answer' then cast(sampled_at as date) end, true
            ) over (
                partition by
                    cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
                order by sampled_at
                rows between unbounded preceding and current row
            ),
            cast(sampled_at as date)
        ) as sampled_date,
        lead(case when sample_kind = 'commit' then sampled_at end) ignore nulls over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
            order by sampled_at
        ) as next_committed_at
    from samples
),

-- A describe or a scrape has no times of commits; an offset that differs from the one before was committed between the two.
numbered as (
    select
        *,
        sum(if(sample_kind = 'answer', 0, 1)) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
                sampled_date
            order by sampled_at
            rows between unbounded preceding and current row
        ) as sample_number,
        case
            when
                sample_kind = 'commit'
                or previous_offset is null
                or committed_offset <> previous_offset
                then if(committed_offset is not null, sampled_at, null)
        end as committed_at
    from followed
),

counted as (
    select
        *,
        cast(
            floor(greatest(sample_number - 1, 0) / {{ var('burrow_window_samples') }}) as int
        ) as window_number,
        case
            when committed_at is not null
                then struct(
                    committed_at,
                    coalesce(
                        lag(
                            committed_at, {{ var('burrow_window_samples') }} - 1
                        ) ignore nulls over (
                            partition by
                                cluster_id, cluster_incarnation, source_kind, group_id, topic_name,
                                partition_id
                            order by sampled_at
                        ),
                        first_value(committed_at, true) over (
                            partition by
                                cluster_id, cluster_incarnation, source_kind, group_id, topic_name,
                                partition_id
                            order by sampled_at
                            rows between unbounded preceding and current row
                        )
                    ) as first_committed_at
                )
        end as commits
    from numbered
),

-- The commits that Burrow would have at that time: the last, and the first of as many as a window has.
committing as (
    select
        *,
        last_value(commits, true) over (
            partition by
                cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id
            order by sampled_at
            rows between unbounded preceding and current row
        ) as commits_so_far
    from counted
),

windowed as (
    select
        cluster_id,
        cluster_incarnation,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        sampled_date,
        window_number,
        min(sampled_at) as window_started_at,
        max(sampled_at) as window_ended_at,
        max_by(next_committed_at, sampled_at) as next_committed_at,
        cast(count(*) as int) as samples,
        min_by(committed_offset, sampled_at) filter (where committed_offset is not null)
            as first_offset,
        max_by(committed_offset, sampled_at) filter (where committed_offset is not null)
            as last_offset,
        min_by(lag, sampled_at) as first_lag,
        max_by(lag, sampled_at) filter (where lag is not null) as last_lag,
        max_by(commits_so_far, sampled_at) as commits,
        bool_or(has_member) as has_member,
        bool_or(is_dated_by_file) as is_dated_by_file,
        bool_or(sample_kind = 'commit') as has_commit_times,
        sort_array(
            collect_list(
                struct(sampled_at, sample_kind, committed_offset, previous_offset, lag, end_offset)
            )
        ) as points,
        slice(
            flatten(
                transform(
                    sort_array(collect_list(struct(sampled_at, evidence))),
                    sample -> sample.evidence
                )
            ),
            1,
            10
        ) as evidence,
        sum(evidence_count) as evidence_count
    from committing
    group by
        cluster_id, cluster_incarnation, source_kind, group_id, topic_name, partition_id,
        sampled_date, window_number
),

-- A window that is not full is judged with samples of the one before it, as Burrow always has its last ten.
joined as (
    select
        *,
        concat(
            coalesce(
                lag(points) over (
                    partition by
                        cluster_id, cluster_incarnation, source_kind, group_id, topic_name,
                        partition_id
                    order by sampled_date, window_number
                ),
                filter(points, point -> false)
            ),
            points
        ) as points_seen,
        -- Burrow's `now`: a state says it itself, commits are judged when the next one comes or Burrow was asked.
        case
            when has_commit_times then coalesce(next_committed_at, window_ended_at)
            else window_ended_at
        end as judged_at
    from windowed
),

recent as (
    select
        *,
        slice(
            filter(points_seen, point -> point.sample_kind <> 'answer'),
            greatest(
                size(filter(points_seen, point -> point.sample_kind <> 'answer'))
                - {{ var('burrow_window_samples') }} + 1,
                1
            ),
            {{ var('burrow_window_samples') }}
        ) as recent_samples
    from joined
),

listed as (
    select
        *,
        filter(
            transform(recent_samples, sample -> sample.committed_offset),
            committed_offset -> committed_offset is not null
        ) as offsets,
        filter(transform(recent_samples, sample -> sample.lag), behind -> behind is not null)
            as lags,
        -- A rewind between two windows is one of the later window.
        get(
            filter(
                recent_samples,
                sample -> sample.committed_offset < sample.previous_offset
                and sample.sampled_at
                >= if(
                    get(recent_samples, 0).sampled_at < window_started_at,
                    get(recent_samples, 1).sampled_at,
                    window_started_at
                )
            ),
            0
        ) as rewind
    from recent
),

-- Burrow, core/internal/evaluator/caching.go: what each rule asks.
asked as (
    select
        *,
        array_min(offsets) = array_max(offsets) as is_unmoved,
        coalesce(
            unix_millis(judged_at) - unix_millis(commits.committed_at)
            > unix_millis(commits.committed_at) - unix_millis(commits.first_committed_at)
            and commits.committed_at > commits.first_committed_at,
            false
        ) as is_silent,
        exists(
            points_seen,
            point -> point.sample_kind <> 'commit'
            and unix_millis(point.sampled_at)
            >= unix_millis(judged_at) - {{ var('burrow_recent_ms') }}
            and point.end_offset <= get(offsets, size(offsets) - 1)
        ) as is_recently_level,
        rewind is not null
        and not exists(
            recent_samples,
            sample -> sample.sampled_at > rewind.sampled_at
            and sample.committed_offset >= rewind.previous_offset
        ) as is_rewound,
        exists(lags, behind -> behind <= {{ var('burrow_allowed_lag') }}) as is_level_once,
        exists(
            zip_with(
                slice(lags, 1, greatest(size(lags) - 1, 0)),
                slice(lags, 2, greatest(size(lags) - 1, 0)),
                (earlier, later) -> later < earlier
            ),
            has_fallen -> has_fallen
        ) as is_lag_falling
    from listed
),

-- The first rule that holds.
final as (
    select
        cluster_id,
        cluster_incarnation,
        source_kind,
        group_id,
        topic_name,
        partition_id,
        sampled_date,
        window_number,
        window_started_at,
        window_ended_at,
        judged_at,
        samples,
        first_offset,
        last_offset,
        first_lag,
        last_lag,
        has_member,
        has_commit_times,
        case
            when last_lag <= {{ var('burrow_allowed_lag') }} then 'OK'
            when last_lag is null or size(offsets) < 2 then null
            when
                (is_silent or (is_unmoved and not coalesce(has_member, true)))
                and not coalesce(is_recently_level, false)
                then 'STOP'
            when is_rewound then 'REWIND'
            when is_level_once then 'OK'
            when is_unmoved then 'STALL'
            when size(lags) < 2 then null
            when not is_lag_falling then 'WARN'
            else 'OK'
        end as status,
        size(recent_samples) < {{ var('burrow_window_samples') }} as is_incomplete,
        -- A stop half a minute ago is none for Burrow if the end of the partition had been reached by then, which its answer does not say.
        has_commit_times
        and get(lags, size(lags) - 1) <= 0
        and unix_millis(judged_at) - unix_millis(commits.committed_at)
        <= {{ var('burrow_recent_ms') }} as is_level_at_last_commit,
        is_dated_by_file,
        evidence,
        evidence_count
    from asked
)

select * from final
