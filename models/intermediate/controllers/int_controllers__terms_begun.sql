{{ config(materialized='table') }}

with terms as (
    select * from {{ ref('stg_logs__terms_started') }}
),

controller_events as (
    select * from {{ ref('stg_logs__controller_events') }}
),

quorum_events as (
    select * from {{ ref('stg_logs__quorum_events') }}
),

partition_claims as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

quorum_statuses as (
    select * from {{ ref('stg_captures__quorum_statuses') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Every line that names a controller together with its epoch; those of the elected node itself come first.
statements as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        epoch_kind,
        epoch_start_offset,
        1 as evidence_rank
    from terms
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        2 as evidence_rank
    from controller_events
    where
        {{ has_role('controller_readiness') }}
        and controller_epoch is not null
        and controller_id is not null
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        quorum_epoch,
        quorum_leader_id,
        'metadata' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        3 as evidence_rank
    from quorum_events
    where
        quorum_epoch is not null
        and quorum_leader_id is not null
        and {{ has_role(['quorum_state', 'quorum_leader']) }}
        and coalesce(quorum_state, '') not like 'Leader%'
    union all
    -- A request names its sender, but a copy of the state in it may be older than the sender's own term.
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        4 as evidence_rank
    from partition_claims
    where
        {{ has_role('partition_leader_change') }}
        and controller_epoch > 0
        and controller_id is not null
),

-- One row per record that names a controller together with its epoch.
claims as (
    {{ placed('statements') }}
),

-- What a controller prints while it holds its term, or when it gives it up, and what a tool was told: each node's first record of an epoch.
-- A controller with ZooKeeper prints its epoch before what it does with partitions.
later_words as (
    select
        cluster_id,
        node_id,
        controller_epoch,
        controller_id,
        'controller' as epoch_kind,
        5 as evidence_rank,
        min(struct(logged_at, source_path, byte_offset)) as line
    from controller_events
    where
        {{ has_role(['controller_term_statement', 'leader_election_failure']) }}
        and controller_epoch > 0
        and controller_id is not null
    group by cluster_id, node_id, controller_epoch, controller_id
    union all
    select
        cluster_id,
        node_id,
        resigned_epoch as controller_epoch,
        node_id as controller_id,
        'metadata' as epoch_kind,
        5 as evidence_rank,
        min(struct(logged_at, source_path, byte_offset)) as line
    from quorum_events
    where
        node_id is not null
        and resigned_epoch is not null
        -- Other states are entered with any later epoch, by followers as well.
        and {{ has_role(['kraft_controller_resignation', 'quorum_state']) }}
        and (
            {{ has_role('kraft_controller_resignation') }}
            or quorum_state like 'Resigned%'
            or is_leader_left
        )
    group by cluster_id, node_id, resigned_epoch
    union all
    select
        cluster_id,
        node_id,
        leader_epoch as controller_epoch,
        leader_id as controller_id,
        'metadata' as epoch_kind,
        6 as evidence_rank,
        min(struct(captured_at as logged_at, source_path, byte_offset)) as line
    from quorum_statuses
    where leader_id >= 0 and leader_epoch is not null and captured_at is not null
    group by cluster_id, node_id, leader_epoch, leader_id
),

later_statements as (
    select
        cluster_id,
        node_id,
        line.logged_at,
        line.source_path,
        line.byte_offset,
        controller_epoch,
        controller_id,
        epoch_kind,
        cast(null as bigint) as epoch_start_offset,
        evidence_rank
    from later_words
),

later_claims as (
    {{ placed('later_statements') }}
),

all_claims as (
    select * from claims
    union all
    select * from later_claims
),

ranked as (
    select
        *,
        min(evidence_rank) over (
            partition by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
        ) as best_rank
    from all_claims
),

-- One row per epoch: the controller that the most trusted line names, from the first line of that trust on. Orders, resignations and
-- describes come at any time of a term: they count for epochs of which no other record says anything.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        min_by(controller_id, struct(evidence_rank, logged_at, byte_offset)) as controller_id,
        epoch_kind,
        min(logged_at) as known_since_at,
        if(min(evidence_rank) <= 3, min(logged_at), null) as elected_at,
        min(evidence_rank) as evidence_rank,
        max(epoch_start_offset) as epoch_start_offset,
        count(distinct case when evidence_rank <= 2 then controller_id end) as controllers_named,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from ranked
    where evidence_rank <= 4 or best_rank > 4
    group by cluster_id, cluster_incarnation, epoch_kind, controller_epoch
),

-- A member of the quorum names the epoch that it gives up.
placed_quorum_events as (
    {{ placed('quorum_events') }}
    where
        quorum_events.resigned_epoch is not null
        or quorum_events.truncated_to is not null
),

-- What each leader of the quorum logs after its election: that it gives up, and to where it cuts its own log back to follow another leader.
afterwards as (
    select
        grouped.*,
        min(later.truncated_to) as truncated_to,
        min(if(later.resigned_epoch = grouped.controller_epoch, later.logged_at, null))
            as given_up_at,
        slice(
            {{
                evidence(
                    'later.resigned_epoch = grouped.controller_epoch',
                    at='later.logged_at',
                    line='later'
                )
            }},
            1,
            1
        ) as given_up_evidence
    from grouped
    left join placed_quorum_events as later
        on
            grouped.epoch_kind = 'metadata'
            and grouped.cluster_id = later.cluster_id
            and grouped.cluster_incarnation = later.cluster_incarnation
            and grouped.controller_id = later.node_id
            and (
                grouped.known_since_at < later.logged_at
                or (grouped.elected_at is null and grouped.known_since_at = later.logged_at)
            )
    group by all
),

-- Where a later leader of the quorum begins at the same offset, or this one cut its log back to it, the metadata log has nothing of this term.
compared as (
    select
        * except (truncated_to),
        min(epoch_start_offset) over (later) as later_start_offset,
        least(min(epoch_start_offset) over (later), truncated_to) as kept_until_offset
    from afterwards
    window later as (
        partition by cluster_id, cluster_incarnation, epoch_kind
        order by controller_epoch
        rows between 1 following and unbounded following
    )
),

judged as (
    select
        *,
        coalesce(kept_until_offset <= epoch_start_offset, false) as is_written_over
    from compared
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        controller_epoch,
        controller_id,
        epoch_kind,
        elected_at,
        known_since_at,
        lead(if(is_written_over, null, known_since_at)) ignore nulls over (terms)
            as superseded_at,
        lead(if(is_written_over, null, controller_id)) ignore nulls over (terms)
            as superseded_by_id,
        coalesce(
            lead(if(is_written_over, null, evidence_rank <= 2)) ignore nulls over (terms), false
        ) as has_evident_successor,
        coalesce(
            lead(if(is_written_over, null, elected_at is null)) ignore nulls over (terms), false
        ) as is_superseded_before,
        lead(known_since_at) over (own_terms) as reelected_at,
        given_up_at,
        given_up_evidence,
        evidence_rank,
        controllers_named,
        is_written_over,
        -- The last term cannot be written over any more; of others only the start of a later one tells.
        coalesce(
            epoch_start_offset is not null
            and later_start_offset is null
            and lead(if(is_written_over, null, controller_epoch)) ignore nulls over (terms)
            is not null,
            false
        ) as may_be_written_over,
        evidence,
        evidence_count
    from judged
    window
        terms as (
            partition by cluster_id, cluster_incarnation, epoch_kind
            order by controller_epoch
        ),
        own_terms as (
            partition by cluster_id, cluster_incarnation, epoch_kind, controller_id
            order by controller_epoch
        )
)

select * from final
