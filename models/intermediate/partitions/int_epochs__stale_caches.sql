with missed as (
    select
        *,
        struct(
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            node_id,
            term_epoch
        ) as follower
    from {{ ref('int_partitions__epochs_missed') }}
),

followed as (
    select
        *,
        max(coalesce(behind_until, timestamp '9999-01-01 00:00:00')) over (
            partition by follower
            order by leader_epoch
            rows between unbounded preceding and 1 preceding
        ) as behind_before
    from missed
),

-- A node that is still behind when the next epoch begins is behind without a break, even if an
-- older epoch reaches it meanwhile.
numbered as (
    select
        *,
        sum(if(elected_at <= behind_before, 0, 1)) over (
            partition by follower
            order by leader_epoch
            rows between unbounded preceding and current row
        ) as window_number
    from followed
),

windows as (
    select
        follower,
        max(struct(leader_epoch - known_epoch, leader_epoch, known_epoch)) as worst,
        min(elected_at) as opened_at,
        bool_or(is_unheard) as is_unheard,
        min_by(is_dated_late, leader_epoch) as is_dated_late,
        if(count(behind_until) < count(*), null, max(behind_until)) as closed_at,
        max_by(caught_up_line, struct(behind_until, caught_up_line)) filter (
            where caught_up_line.logged_at = behind_until
        ) as closing_line,
        sort_array(array_distinct(array_compact(flatten(
            collect_list(array(known_line, stored_line, caught_up_line))
        )))) as lines
    from numbered
    group by follower, window_number
),

described as (
    select
        follower.cluster_id,
        follower.cluster_incarnation,
        'leader' as epoch_kind,
        'stale_node' as gap_kind,
        follower.topic_name,
        follower.partition_id,
        follower.topic_incarnation,
        follower.node_id,
        worst.leader_epoch as expected_epoch,
        worst.known_epoch as found_epoch,
        worst.leader_epoch - worst.known_epoch - 1 as missing_epochs,
        opened_at,
        closed_at,
        is_unheard,
        is_dated_late,
        transform(
            slice(lines, 1, 10),
            line -> named_struct(
                'node_id', line.node_id,
                'source_path', line.source_path,
                'byte_offset', line.byte_offset
            )
        ) as evidence,
        cast(size(lines) as bigint) as evidence_count,
        -- One that ended with its process had not caught up.
        if(
            closing_line.logged_at = closed_at,
            array(struct(closing_line.node_id, closing_line.source_path, closing_line.byte_offset)),
            null
        ) as end_evidence,
        row_number() over (
            partition by
                follower.cluster_id,
                follower.cluster_incarnation,
                follower.topic_name,
                follower.partition_id,
                follower.topic_incarnation,
                follower.node_id,
                opened_at,
                worst.known_epoch
            order by follower.term_epoch
        ) as role_number
    from windows
),

-- A controller is a broker too, and may be behind as both.
final as (
    select * except (role_number)
    from described
    where role_number = 1
)

select * from final
