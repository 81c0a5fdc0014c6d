with terms as (
    select *
    from {{ ref('int_controllers__terms_led') }}
    where not is_written_over
),

sessions as (
    select * from {{ ref('int_sessions__ended') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

quorum_elections as (
    select * from {{ ref('stg_logs__quorum_elections') }}
),

quorum_statuses as (
    select * from {{ ref('stg_captures__quorum_statuses') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- What a member of the quorum says about the leader: that there is one of an epoch, or that it knows of none.
words as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        case
            when {{ has_role('kraft_controller_renewal') }} then new_quorum_epoch
            when {{ has_role('kraft_controller_resignation') }}
                then coalesce(new_quorum_epoch, quorum_epoch)
            else quorum_epoch
        end as quorum_epoch,
        -- From 4.0 on a member that looks for a leader prints the last one.
        coalesce(
            (quorum_leader_id is not null or {{ has_role('kraft_controller_renewal') }})
            and not coalesce(quorum_state like 'Prospective%', false)
            and not coalesce(quorum_state like 'Candidate%', false),
            false
        ) as has_leader,
        coalesce(
            quorum_state like 'Candidate%'
            or quorum_state like 'Prospective%'
            or is_follower_left
            or is_leader_left,
            false
        ) as is_candidacy,
        false as is_vote,
        false as is_described,
        false as is_dated_by_file
    from quorum_events
    where
        not {{ has_role('quorum_truncation') }}
        -- An observer does not print whether it knows a leader; a process that resigned after a failure may lead again.
        and coalesce(quorum_state, '') <> 'Observer'
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        quorum_epoch,
        false as has_leader,
        vote is null as is_candidacy,
        vote is not null as is_vote,
        false as is_described,
        false as is_dated_by_file
    from quorum_elections
    union all
    select
        cluster_id,
        node_id,
        captured_at as logged_at,
        source_path,
        byte_offset,
        leader_epoch as quorum_epoch,
        leader_id >= 0 as has_leader,
        true as is_candidacy,
        false as is_vote,
        true as is_described,
        captured_known_by = 'modified' as is_dated_by_file
    from quorum_statuses
    where captured_at is not null
),

placed_words as (
    {{ placed('words') }}
),

-- From 4.0 on a member without a majority goes back to its last leader between two tries, and misses it again when its fetch times out.
settled as (
    select
        *,
        has_leader
        and coalesce(
            lead(if(has_leader, null, logged_at)) ignore nulls over (of_node)
            > logged_at + interval 15 seconds,
            true
        ) as has_leader_for_long
    from placed_words
    window of_node as (
        partition by cluster_id, cluster_incarnation, node_id
        order by logged_at, source_path, byte_offset
    )
),

followed as (
    select
        *,
        max(if(has_leader, quorum_epoch, null)) over (
            partition by cluster_id, cluster_incarnation, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as led_epoch,
        lead(if(has_leader_for_long, quorum_epoch, null)) ignore nulls over (
            partition by cluster_id, cluster_incarnation, node_id
            order by logged_at, source_path, byte_offset
        ) as next_led_epoch
    from settled
),

-- A node that finds the same leader again was only cut off, or was restarted. One that stops misses the others, which stop as well.
-- A node may refuse a vote because it has a leader; for a vote in a later epoch it gives that leader up.
signs as (
    select followed.*
    from followed
    left anti join runs
        on
            followed.cluster_id = runs.cluster_id
            and followed.node_id = runs.node_id
            and followed.logged_at >= runs.stopping_at - interval 10 seconds
            and followed.logged_at <= coalesce(runs.stopped_at, runs.fell_silent_at)
    where
        not followed.has_leader
        and (
            followed.next_led_epoch is null
            or followed.led_epoch is null
            or followed.next_led_epoch > followed.led_epoch
        )
        and (not followed.is_vote or coalesce(followed.quorum_epoch > followed.led_epoch, true))
),

expired as (
    select
        terms.*,
        min(sessions.expired_at) as expired_at
    from terms
    left join sessions
        on
            terms.cluster_id = sessions.cluster_id
            and terms.cluster_incarnation = sessions.cluster_incarnation
            and terms.controller_id = sessions.node_id
            and terms.epoch_kind = 'controller'
            and sessions.session_kind = 'zookeeper_broker'
            and terms.known_since_at < sessions.expired_at
    group by all
),

-- When a controller certainly was none any more, according to its own log or session: it had resigned, its session was over, its process had
-- stopped, or the next one started. One that is stopping is controller until then.
left_office as (
    select
        *,
        least(
            resigned_at,
            expired_at,
            if(stopped_at >= known_since_at, stopped_at, null),
            next_started_at
        ) as left_at
    from expired
),

-- Before the first term that is known, there may have been no leader either.
offices as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        controller_epoch,
        controller_id,
        evidence_rank,
        known_since_at,
        fell_silent_at,
        left_at,
        left_at = resigned_at
        and coalesce(stopping_at > resigned_at + interval 10 seconds, true) as is_left_alive,
        evidence
    from left_office
    union all
    select
        cluster_id,
        cluster_incarnation,
        'metadata' as epoch_kind,
        cast(null as int) as controller_epoch,
        cast(null as int) as controller_id,
        cast(null as int) as evidence_rank,
        cast(null as timestamp) as known_since_at,
        cast(null as timestamp) as fell_silent_at,
        cast(null as timestamp) as left_at,
        cast(null as boolean) as is_left_alive,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as evidence
    from incarnations
),

gaps as (
    select
        *,
        lead(controller_epoch) over (terms) as next_epoch,
        lead(controller_id) over (terms) as next_controller_id,
        lead(known_since_at) over (terms) as next_known_at,
        lead(evidence_rank) over (terms) as next_rank,
        lead(evidence) over (terms) as next_evidence
    from offices
    window terms as (
        partition by cluster_id, cluster_incarnation, epoch_kind
        order by controller_epoch nulls first
    )
),

-- Signs between two terms. They count from the end of the first on; where its own log does not tell when it ended, because the process fell
-- silent or the log is missing, they show it.
signs_between as (
    select
        gaps.*,
        signs.node_id,
        signs.logged_at,
        signs.logged_at as lasts_until,
        signs.source_path,
        signs.byte_offset,
        signs.quorum_epoch,
        signs.is_candidacy,
        signs.is_candidacy or signs.is_vote as is_search,
        signs.is_described,
        signs.is_dated_by_file
    from gaps
    inner join signs
        on
            gaps.cluster_id = signs.cluster_id
            and gaps.cluster_incarnation = signs.cluster_incarnation
            and gaps.epoch_kind = 'metadata'
            and (
                gaps.controller_epoch is null
                or gaps.left_at <= signs.logged_at
                or gaps.fell_silent_at <= signs.logged_at
                or (
                    gaps.evidence_rank in (3, 4, 6)
                    and gaps.known_since_at < signs.logged_at
                    and coalesce(gaps.controller_epoch <= signs.quorum_epoch, true)
                )
            )
            and (gaps.next_known_at is null or gaps.next_known_at > signs.logged_at)
            and (
                gaps.next_epoch is null
                or gaps.next_rank = 1
                or coalesce(gaps.next_epoch > signs.quorum_epoch, true)
            )
),

-- With ZooKeeper nobody logs that there is no controller: it is known from the end of one term and the election of the next, while another
-- broker was up all the time: one that starts elects itself. A missing epoch may have had one.
brokers_without as (
    select
        gaps.*,
        runs.node_id,
        gaps.left_at as logged_at,
        least(
            gaps.next_known_at, coalesce(runs.stopping_at, runs.fell_silent_at, gaps.next_known_at)
        ) as lasts_until,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset,
        cast(null as int) as quorum_epoch,
        true as is_candidacy,
        true as is_search,
        false as is_described,
        false as is_dated_by_file
    from gaps
    inner join runs
        on
            gaps.cluster_id = runs.cluster_id
            and gaps.controller_id <> runs.node_id
            and gaps.left_at >= runs.first_seen_at
            and gaps.next_known_at <= runs.last_seen_at
            and coalesce(runs.stopping_at, runs.fell_silent_at, gaps.next_known_at) > gaps.left_at
    where
        gaps.epoch_kind = 'controller'
        and gaps.left_at < gaps.next_known_at
        and gaps.next_epoch = gaps.controller_epoch + 1
        and gaps.next_rank <= 2
),

-- A resignation is the first sign, unless the node stops: then the others tell whether they miss it.
ends as (
    select
        *,
        controller_id as node_id,
        left_at as logged_at,
        left_at as lasts_until,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset,
        cast(null as int) as quorum_epoch,
        cast(null as boolean) as is_candidacy,
        true as is_search,
        false as is_described,
        false as is_dated_by_file
    from gaps
    where
        is_left_alive
        and left_at < coalesce(next_known_at, timestamp '9999-01-01 00:00:00')
),

told as (
    select * from signs_between
    union all
    select * from brokers_without
    union all
    select * from ends
),

spaced as (
    select
        *,
        max(lasts_until) over (
            partition by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
            order by logged_at, lasts_until, node_id, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as told_until
    from told
),

-- Members that look for a leader say so every few seconds: after half a minute without a word nobody looks for one, because all are down.
numbered as (
    select
        *,
        count_if(coalesce(logged_at > told_until + interval 30 seconds, false)) over (
            partition by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
            order by logged_at, lasts_until, node_id, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as stretch
    from spaced
),

stretches as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        controller_epoch,
        controller_id,
        evidence_rank,
        left_at,
        next_epoch,
        next_controller_id,
        next_known_at,
        evidence as last_evidence,
        next_evidence,
        stretch,
        -- Members that only start have not heard of a leader yet: before the first known term the first candidacy or vote counts.
        coalesce(
            min(if(controller_epoch is null and not is_search, null, logged_at)), min(logged_at)
        ) as started_at,
        max(lasts_until) as last_sign_at,
        collect_set(node_id) as node_ids,
        count(distinct quorum_epoch) as epochs,
        count_if(source_path is null or not is_described) = 0 as is_described,
        bool_or(is_dated_by_file) as is_dated_by_file,
        {{ evidence('source_path is not null') }} as evidence,
        count(source_path) as evidence_count
    from numbered
    group by all
    -- The end of a term alone is none: others do not need to have noticed. A member that only starts has not heard of the leader yet.
    having bool_or(is_candidacy) or count(distinct quorum_epoch) > 1
),

-- If every process that looked for a leader has ended, so has the search.
looked as (
    select
        stretches.*,
        if(
            count(runs.run_number) > 0
            and count(coalesce(runs.stopping_at, runs.fell_silent_at)) = count(runs.run_number),
            max(coalesce(runs.stopping_at, runs.fell_silent_at)),
            null
        ) as looked_until_at
    from stretches
    left join runs
        on
            stretches.cluster_id = runs.cluster_id
            and array_contains(stretches.node_ids, runs.node_id)
            and stretches.last_sign_at >= runs.first_seen_at
            and coalesce(stretches.last_sign_at <= runs.fell_silent_at, true)
    group by all
),

bounded as (
    select
        *,
        controller_id as last_controller_id,
        left_at is not null and left_at = started_at as is_start_known,
        coalesce(evidence_rank in (3, 4, 6), true) as is_last_controller_silent,
        coalesce(
            next_known_at <= last_sign_at + interval 30 seconds
            or (is_described and next_known_at is not null),
            false
        ) as is_ended_by_next
    from looked
),

ended as (
    select
        *,
        case
            when is_ended_by_next then next_known_at
            when next_known_at is not null then last_sign_at
            when looked_until_at is not null then greatest(last_sign_at, looked_until_at)
        end as ended_at
    from bounded
),

-- An election among members that are there takes less than a second: its timeout is one (controller.quorum.election.timeout.ms).
final as (
    select
        cluster_id,
        cluster_incarnation,
        epoch_kind,
        controller_epoch as last_epoch,
        last_controller_id,
        if(is_ended_by_next, next_controller_id, null) as next_controller_id,
        started_at,
        ended_at,
        last_sign_at,
        epochs,
        is_start_known,
        is_described,
        is_dated_by_file,
        is_ended_by_next,
        is_last_controller_silent and size(node_ids) = 1 as is_told_by_one,
        slice(
            concat(
                evidence,
                if(is_start_known, coalesce(last_evidence, array()), array()),
                if(is_ended_by_next, next_evidence, array())
            ),
            1,
            10
        ) as evidence,
        evidence_count
        + if(is_start_known, coalesce(size(last_evidence), 0), 0)
        + if(is_ended_by_next, size(next_evidence), 0) as evidence_count,
        if(is_ended_by_next, next_evidence, null) as end_evidence
    from ended
    where ended_at is null or ended_at >= started_at + interval 1 second
)

select * from final
