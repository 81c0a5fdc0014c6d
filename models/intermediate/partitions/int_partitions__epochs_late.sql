{{ config(materialized='table') }}

with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

reached as (
    select * from {{ ref('int_partitions__epochs_reached') }}
),

-- When a node last logged an epoch of any partition, at least a minute before; and when it ever did last. The epochs that a node
-- gets with its start, or once its controller is back, are within a minute.
heard as (
    select
        *,
        max(reached_at) over (
            partition by cluster_id, node_id
            order by reached_at
            range between unbounded preceding and interval 1 minute preceding
        ) as heard_before,
        max(reached_at) over (partition by cluster_id, node_id) as last_heard_at
    from reached
),

-- A node follows a partition if its log mentions it.
watchers as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        min(leader_epoch) as first_epoch,
        max(leader_epoch) as last_epoch,
        max(is_cached) as is_cached,
        max(last_heard_at) as last_heard_at
    from heard
    group by all
),

-- Each epoch from the first on that a node got, and the first record of the node with it or a later one.
awaited as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        watchers.node_id,
        watchers.term_epoch,
        epochs.leader_epoch,
        epochs.controller_epoch,
        epochs.elected_at,
        epochs.is_dated_late,
        epochs.evidence[0] as line,
        watchers.first_epoch,
        watchers.is_cached,
        watchers.last_heard_at,
        array_contains(epochs.known_replicas, watchers.node_id) as is_replica,
        heard.line as own_line,
        heard.is_reached_before,
        min(if(heard.line is null, null, struct(heard.line, heard.heard_before))) over (
            partition by
                epochs.cluster_id,
                epochs.cluster_incarnation,
                epochs.topic_name,
                epochs.partition_id,
                epochs.topic_incarnation,
                watchers.node_id,
                watchers.term_epoch
            order by epochs.leader_epoch desc
            rows between unbounded preceding and current row
        ) as caught_up
    from watchers
    inner join epochs
        on
            watchers.cluster_id = epochs.cluster_id
            and watchers.cluster_incarnation = epochs.cluster_incarnation
            and watchers.topic_name = epochs.topic_name
            and watchers.partition_id = epochs.partition_id
            and watchers.topic_incarnation = epochs.topic_incarnation
            and watchers.first_epoch <= epochs.leader_epoch
            and (watchers.term_epoch is null or watchers.last_epoch >= epochs.leader_epoch)
    left join heard
        on
            watchers.cluster_id = heard.cluster_id
            and watchers.cluster_incarnation = heard.cluster_incarnation
            and watchers.topic_name = heard.topic_name
            and watchers.partition_id = heard.partition_id
            and watchers.topic_incarnation = heard.topic_incarnation
            and watchers.node_id = heard.node_id
            and watchers.term_epoch <=> heard.term_epoch
            and epochs.leader_epoch = heard.leader_epoch
),

-- Slow propagation is not staleness, but the network never delays a control request by five
-- seconds. In its own term a controller only misses what an older one still writes.
-- A replica may have been removed, or its topic deleted: the node was certainly behind only if it
-- got the epoch after all, or logs every partition.
judged as (
    select
        * except (caught_up),
        caught_up.line as caught_up_line,
        caught_up.heard_before,
        coalesce(caught_up.heard_before < elected_at, true) as is_silent_meanwhile,
        -- When it first had an epoch of any partition that is newer than this one.
        min(if(is_dated_late, null, own_line.logged_at)) over (
            partition by cluster_id, node_id
            order by elected_at desc
            range between unbounded preceding and interval 5 seconds preceding
        ) as newer_reached_at,
        first_epoch < leader_epoch
        and coalesce(caught_up.line.logged_at > elected_at + interval 5 seconds, true)
        and coalesce(controller_epoch < term_epoch, term_epoch is null)
        and (is_cached or (coalesce(is_replica, true) and caught_up.line is not null)) as is_late
    from awaited
),

late as (
    select distinct
        cluster_id,
        node_id,
        elected_at
    from judged
    where is_late
),

moments as (
    select
        cluster_id,
        node_id,
        elected_at as at,
        cast(null as timestamp) as heard_at
    from late
    union all
    select
        cluster_id,
        node_id,
        reached_at as at,
        reached_at as heard_at
    from heard
),

-- When a node next logged an epoch of any partition after an election that it missed.
next_words as (
    select
        *,
        min(heard_at) over (
            partition by cluster_id, node_id
            order by at desc
            range between unbounded preceding and current row
        ) as next_heard_at
    from moments
),

-- A node that logs no epoch of any partition for so long was cut off or stood still, or its log is missing: from the first
-- epoch that it missed until it caught up, or until its next word.
weighed as (
    select
        judged.* except (heard_before, is_silent_meanwhile, last_heard_at),
        coalesce(judged.is_reached_before, false)
        or coalesce(
            next_words.next_heard_at > judged.elected_at + interval 10 minutes, false
        )
        or coalesce(
            judged.is_silent_meanwhile
            and judged.caught_up_line.logged_at
            > min(
                if(judged.is_late and judged.is_silent_meanwhile, judged.elected_at, null)
            )
                over (
                    partition by judged.cluster_id, judged.node_id, judged.heard_before
                )
            + interval 10 minutes,
            judged.last_heard_at < judged.elected_at,
            false
        ) as is_unheard
    from judged
    left join next_words
        on
            judged.cluster_id = next_words.cluster_id
            and judged.node_id = next_words.node_id
            and judged.elected_at = next_words.at
            and next_words.heard_at is null
            and judged.is_late
),

marked as (
    select
        *,
        max(is_late) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
        ) as is_ever_late
    from weighed
),

-- What a node got, and what it got late or never, in two rows if both.
passed as (
    select
        *,
        explode(array_compact(array(
            if(own_line is null, null, false),
            if(is_late, true, null)
        ))) as is_missed
    from marked
    where is_ever_late
),

-- At the same moment, what it got comes first.
known as (
    select
        *,
        max(if(is_missed, null, struct(leader_epoch, own_line))) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
            order by if(is_missed, elected_at, own_line.logged_at), is_missed
            rows between unbounded preceding and current row
        ) as had
    from passed
),

-- One row per partition, node and leader epoch that the node got more than five seconds late, or
-- never, though it had an older one.
final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        leader_epoch,
        elected_at,
        caught_up_line.logged_at as reached_at,
        newer_reached_at,
        is_cached,
        is_dated_late,
        is_unheard,
        struct(elected_at as logged_at, line.node_id, line.source_path, line.byte_offset)
            as stored_line,
        caught_up_line,
        had.leader_epoch as known_epoch,
        had.own_line as known_line
    from known
    where is_missed and had.leader_epoch < leader_epoch
)

select * from final
