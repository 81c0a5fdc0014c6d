{{ config(materialized='table', meta={'at': 'logged_at'}) }}

with records as (
    select * from {{ ref('int_brokers__fence_records') }}
),

claims as (
    select * from {{ ref('int_brokers__fence_claims') }}
),

registration_records as (
    select * from {{ ref('int_brokers__registration_records') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

-- Releases that print the records (2.8 to 3.2, 3.6 and later) say so in at least one line of the cluster.
telling as (
    select distinct cluster_id
    from registration_records
    where not {{ has_role('unfencing_grant') }}
),

spaced as (
    select
        claims.*,
        lag(claims.logged_at) over (
            partition by claims.cluster_id, claims.cluster_incarnation, claims.broker_id
            order by claims.logged_at, claims.byte_offset
        ) as previous_at
    from claims
    left anti join telling on claims.cluster_id = telling.cluster_id
    where claims.is_by_leader and not claims.is_asked
),

-- In a release that prints the records, a claim without one may be that of a controller whose term was over.
claimed as (
    select
        spaced.*,
        coalesce(
            releases.release_numbers < array(3, 3) or releases.release_numbers >= array(3, 6), false
        ) as is_unconfirmed
    from spaced
    left join releases
        on
            spaced.cluster_id = releases.cluster_id
            and spaced.node_id = releases.node_id
            and spaced.logged_at >= releases.valid_from
            and spaced.logged_at < releases.valid_to
    where
        spaced.previous_at is null
        or spaced.logged_at > spaced.previous_at + interval 2 seconds
),

fencings as (
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        is_left_behind,
        false as is_unconfirmed
    from records
    union all
    select
        cluster_id,
        cluster_incarnation,
        broker_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        false as is_left_behind,
        is_unconfirmed
    from claimed
),

unfenced as (
    select
        fencings.cluster_id,
        fencings.cluster_incarnation,
        fencings.broker_id,
        fencings.node_id,
        fencings.logged_at,
        fencings.source_path,
        fencings.byte_offset,
        fencings.is_left_behind,
        fencings.is_unconfirmed,
        min(
            struct(
                registration_records.logged_at,
                registration_records.node_id,
                registration_records.source_path,
                registration_records.byte_offset
            )
        ) filter (
            where
            registration_records.is_unfencing
            or {{ has_role('unfencing_grant', 'registration_records.event_type') }}
        ) as unfencing
    from fencings
    left join registration_records
        on
            fencings.cluster_id = registration_records.cluster_id
            and fencings.broker_id = registration_records.broker_id
            and fencings.logged_at < registration_records.logged_at
            and not registration_records.is_starting
    group by
        fencings.cluster_id,
        fencings.cluster_incarnation,
        fencings.broker_id,
        fencings.node_id,
        fencings.logged_at,
        fencings.source_path,
        fencings.byte_offset,
        fencings.is_left_behind,
        fencings.is_unconfirmed
),

final as (
    select
        * except (unfencing),
        unfencing.logged_at as unfenced_at,
        if(
            unfencing is null,
            null,
            array(struct(unfencing.node_id, unfencing.source_path, unfencing.byte_offset))
        ) as end_evidence
    from unfenced
)

select * from final
