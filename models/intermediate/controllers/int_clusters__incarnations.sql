{{ config(materialized='table') }}

with terms as (
    select * from {{ ref('stg_logs__terms_started') }}
),

marks as (
    select * from {{ ref('stg_logs__state_marks') }}
),

partition_claims as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

lifecycle_events as (
    select * from {{ ref('stg_logs__lifecycle_events') }}
),

sources as (
    select * from {{ ref('stg_sources__files') }}
),

-- The epoch with which ZooKeeper's state begins is 0, and no controller has it.
given as (
    select
        cluster_id,
        epoch_kind,
        event_type,
        controller_id as node_id,
        controller_epoch,
        logged_at
    from terms
    union all
    select
        cluster_id,
        'controller' as epoch_kind,
        event_type,
        writer_id as node_id,
        cast(mark as int) as controller_epoch,
        logged_at
    from marks
    where mark_kind = 'controller_epoch'
),

compared as (
    select
        cluster_id,
        node_id,
        controller_epoch,
        logged_at,
        lag(node_id) over (of_cluster) as previous_node_id,
        lag(controller_epoch) over (of_cluster) as previous_epoch,
        lag(logged_at) over (of_cluster) as previous_at,
        lag(controller_epoch) over (of_node) as own_previous_epoch,
        lag(logged_at) over (of_node) as own_previous_at
    from given
    window
        of_cluster as (
            partition by cluster_id, epoch_kind
            order by logged_at, controller_epoch, node_id
        ),
        of_node as (
            partition by cluster_id, epoch_kind, event_type, node_id
            order by logged_at, controller_epoch
        )
),

-- Within one life of ZooKeeper's or the quorum's state no epoch is given twice (a cluster that
-- migrates from one to the other counts from the start, and lives on). An epoch of another node that
-- is lower by one only means a clock that runs behind, or another time zone: zones differ by 26 hours
-- at most. The same epoch again within a minute is the same election, logged twice.
given_again as (
    select
        cluster_id,
        node_id,
        logged_at as found_at,
        begun.last_at
    from compared
        lateral view explode(
            array(
                if(
                    controller_epoch < previous_epoch - 1
                    or (
                        controller_epoch = previous_epoch - 1
                        and logged_at > previous_at + interval 26 hours
                    )
                    or (controller_epoch = 1 and controller_epoch < previous_epoch)
                    or (controller_epoch = 0 and logged_at > previous_at + interval 1 minute)
                    or (
                        controller_epoch = previous_epoch
                        and not node_id <=> previous_node_id
                        and logged_at > previous_at + interval 1 minute
                    ),
                    previous_at,
                    null
                ),
                -- A node has one clock: its own epochs only rise, but for the hour that is repeated when summer ends.
                if(
                    (
                        controller_epoch = own_previous_epoch
                        and logged_at > own_previous_at + interval 1 minute
                    )
                    or (
                        controller_epoch < own_previous_epoch
                        and logged_at > own_previous_at + interval 1 hour
                    ),
                    own_previous_at,
                    null
                )
            )
        ) begun as last_at
    where begun.last_at is not null
),

marked as (
    select
        cluster_id,
        mark_kind,
        writer_id as node_id,
        mark,
        logged_at as found_at,
        lag(mark) over (of_writer) as last_mark,
        lag(logged_at) over (of_writer) as last_at
    from marks
    where mark_kind <> 'controller_epoch' and writer_id is not null
    window of_writer as (
        partition by cluster_id, mark_kind, writer_id
        order by logged_at, mark
    )
),

-- Each transaction has a number of its own; a registration in the quorum may be confirmed again.
-- A node is compared only with itself, because clocks and time zones of nodes differ.
fallen as (
    select
        cluster_id,
        node_id,
        found_at,
        last_at
    from marked
    where
        (
            mark = last_mark
            and mark_kind = 'zookeeper_transaction'
            and found_at > last_at + interval 1 minute
        )
        or (mark < last_mark and found_at > last_at + interval 1 hour)
),

-- What a controller orders carries its own epoch: this shows a new life where the log of the elections is missing.
ordered as (
    select
        cluster_id,
        node_id,
        controller_epoch,
        min(logged_at) as first_at,
        max(logged_at) as last_at
    from partition_claims
    where
        {{ has_role('controller_statement') }}
        and controller_id = node_id
        and controller_epoch > 0
    group by cluster_id, node_id, controller_epoch, date_trunc('minute', logged_at)
),

orders_compared as (
    select
        cluster_id,
        node_id,
        controller_epoch,
        first_at as found_at,
        lag(controller_epoch) over (of_node) as previous_epoch,
        lag(last_at) over (of_node) as last_at
    from ordered
    window of_node as (partition by cluster_id, node_id order by first_at, controller_epoch)
),

ordered_again as (
    select
        cluster_id,
        node_id,
        found_at,
        last_at
    from orders_compared
    where controller_epoch < previous_epoch and found_at > last_at + interval 1 hour
),

-- The id of the cluster is part of the state. Only a node that became ready has joined the cluster that it names.
named as (
    select
        cluster_id,
        node_id,
        lifecycle_step,
        last_value(
            if(
                kafka_cluster_id is not null,
                named_struct('kafka_cluster_id', kafka_cluster_id, 'named_at', logged_at),
                null
            )
        ) ignore nulls over (
            partition by cluster_id, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as name
    from lifecycle_events
    where kafka_cluster_id is not null or lifecycle_step = 'started'
),

names as (
    select
        cluster_id,
        name.kafka_cluster_id,
        min_by(node_id, struct(name.named_at, node_id)) as node_id,
        min(name.named_at) as found_at,
        max(name.named_at) as named_until,
        bool_or(coalesce(lifecycle_step = 'started', false)) as is_joined
    from named
    where name is not null
    group by cluster_id, name.kafka_cluster_id
),

names_compared as (
    select
        cluster_id,
        node_id,
        found_at,
        is_joined,
        max(named_until) over (
            partition by cluster_id
            order by found_at, kafka_cluster_id
            rows between unbounded preceding and 1 preceding
        ) as last_at
    from names
),

-- A name that comes back later is of another cluster, with which a node was mixed up.
renamed as (
    select
        cluster_id,
        node_id,
        found_at,
        last_at
    from names_compared
    where is_joined and last_at < found_at
),

-- Each says that a new life began after `last_at`, and not after `found_at`.
signs as (
    select * from given_again
    union all
    select * from fallen
    union all
    select * from ordered_again
    union all
    select * from renamed
),

signs_of_cluster as (
    select
        cluster_id,
        sort_array(
            collect_list(
                named_struct('found_at', found_at, 'last_at', last_at, 'node_id', node_id)
            )
        ) as in_order
    from signs
    group by cluster_id
),

-- As few lives as explain all signs: one begins with the first sign that is not explained by the one before.
lives as (
    select
        cluster_id,
        aggregate(
            in_order,
            cast(array() as array<struct<found_at: timestamp, last_at: timestamp, node_id: int>>),
            (begun, sign) -> if(
                size(begun) > 0 and element_at(begun, -1).found_at > sign.last_at,
                concat(
                    slice(begun, 1, size(begun) - 1),
                    array(
                        named_struct(
                            'found_at', element_at(begun, -1).found_at,
                            'last_at', greatest(element_at(begun, -1).last_at, sign.last_at),
                            'node_id', element_at(begun, -1).node_id
                        )
                    )
                ),
                concat(begun, array(sign))
            )
        ) as begun
    from signs_of_cluster
),

begun as (
    select
        cluster_id,
        life.found_at,
        life.last_at,
        life.node_id
    from lives
        lateral view explode(lives.begun) in_order as life
),

-- An incarnation begins before its first sign: when the node that gave the sign was started, if its log has that start.
started as (
    select
        begun.cluster_id,
        begun.found_at,
        begun.last_at,
        collect_set(lifecycle_events.logged_at) as starts,
        max(if(lifecycle_events.node_id = begun.node_id, lifecycle_events.logged_at, null))
            as own_started_at
    from begun
    left join lifecycle_events
        on
            begun.cluster_id = lifecycle_events.cluster_id
            and lifecycle_events.lifecycle_step = 'starting'
            and begun.found_at >= lifecycle_events.logged_at
            and lifecycle_events.logged_at > begun.found_at - interval 10 minutes
            and begun.last_at < lifecycle_events.logged_at
    group by begun.cluster_id, begun.found_at, begun.last_at
),

-- The parts of a process start one after the other, and so do the nodes of a cluster: it begins with the first of them.
starts as (
    select
        cluster_id,
        found_at,
        last_at,
        coalesce(
            array_min(filter(starts, start_at -> start_at >= own_started_at - interval 1 minute)),
            found_at
        ) as started_at
    from started
),

bounds as (
    select
        cluster_id,
        started_at,
        max(last_at) as last_at
    from starts
    group by cluster_id, started_at
    union all
    select
        cluster_id,
        timestamp '1970-01-01 00:00:00' as started_at,
        cast(null as timestamp) as last_at
    from sources
    group by cluster_id
),

spans as (
    select
        cluster_id,
        started_at,
        last_at,
        coalesce(
            lead(started_at) over (partition by cluster_id order by started_at),
            timestamp '9999-01-01 00:00:00'
        ) as ended_at
    from bounds
),

-- ZooKeeper's state begins without a controller, and its first one has epoch 1. If the first epoch that is there is a later one,
-- the life began before it, at an unknown time.
first_epochs as (
    select
        spans.*,
        min(given.controller_epoch) as first_epoch
    from spans
    left join given
        on
            spans.cluster_id = given.cluster_id
            and spans.started_at <= given.logged_at
            and spans.ended_at > given.logged_at
            and given.epoch_kind = 'controller'
    group by all
),

final as (
    select
        cluster_id,
        cast(row_number() over (of_cluster) as int) as cluster_incarnation,
        started_at as valid_from,
        ended_at as valid_to,
        lead(if(first_epoch > 1, last_at, null)) over (of_cluster) as doubtful_from
    from first_epochs
    window of_cluster as (partition by cluster_id order by started_at)
)

select * from final
