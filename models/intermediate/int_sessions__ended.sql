{{ config(materialized='table', file_format='parquet') }}

with expired as (
    select * from {{ ref('int_sessions__expired') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

membership_events as (
    select * from {{ ref('stg_logs__membership_events') }}
),

-- Without ZooKeeper's own log, the controller's word that the broker is gone is the nearest to the expiry; without that,
-- the last contact plus the timeout.
removals as (
    select
        cluster_id,
        explode(brokers_deleted) as broker_id,
        logged_at
    from membership_events
    where event_type = 'brokers_changed'
),

removed as (
    select
        expired.cluster_id,
        expired.node_id,
        expired.session_id,
        expired.lost_at,
        max(removals.logged_at) as removed_at
    from expired
    inner join removals
        on
            expired.cluster_id = removals.cluster_id
            and expired.node_id = removals.broker_id
            and removals.logged_at <= expired.lost_at + interval 1 second
            and removals.logged_at
            >= coalesce(expired.last_contact_at, expired.lost_at - interval 1 minute)
    where expired.expired_at is null
    group by expired.cluster_id, expired.node_id, expired.session_id, expired.lost_at
),

dated as (
    select
        expired.cluster_id,
        expired.node_id,
        expired.client_id,
        expired.session_id,
        expired.timeout_ms,
        expired.last_contact_at,
        expired.lost_at,
        expired.is_broker,
        expired.evidence,
        expired.evidence_count,
        expired.expired_at is not null as is_told,
        coalesce(
            expired.expired_at,
            removed.removed_at,
            least(
                expired.last_contact_at + make_dt_interval(0, 0, 0, expired.timeout_ms / 1000.0),
                expired.lost_at
            ),
            expired.lost_at
        ) as expired_at
    from expired
    left join removed
        on
            expired.cluster_id = removed.cluster_id
            and expired.node_id = removed.node_id
            and expired.session_id <=> removed.session_id
            and expired.lost_at = removed.lost_at
),

final as (
    select
        dated.cluster_id,
        incarnations.cluster_incarnation,
        case when dated.is_broker then 'zookeeper_broker' else 'zookeeper_client' end
            as session_kind,
        dated.node_id,
        coalesce(cast(dated.node_id as string), dated.client_id, 'session 0x' || dated.session_id)
            as owner,
        dated.session_id,
        dated.timeout_ms,
        dated.last_contact_at,
        dated.expired_at,
        dated.lost_at as noticed_at,
        cast(null as timestamp) as unfenced_at,
        dated.is_told,
        dated.evidence,
        dated.evidence_count
    from dated
    inner join incarnations
        on
            dated.cluster_id = incarnations.cluster_id
            and dated.expired_at >= incarnations.valid_from
            and dated.expired_at < incarnations.valid_to
    union all
    select
        cluster_id,
        cluster_incarnation,
        'kraft_broker' as session_kind,
        broker_id as node_id,
        cast(broker_id as string) as owner,
        cast(null as string) as session_id,
        cast(null as bigint) as timeout_ms,
        cast(null as timestamp) as last_contact_at,
        logged_at as expired_at,
        cast(null as timestamp) as noticed_at,
        unfenced_at,
        true as is_told,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence,
        cast(1 as bigint) as evidence_count
    from fencings
)

select * from final
