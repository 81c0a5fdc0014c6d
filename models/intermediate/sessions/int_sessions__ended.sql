{{ config(materialized='table') }}

with dated as (
    select * from {{ ref('int_sessions__expiries_dated') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('dated', at='expired_at') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        case
            when is_broker then 'zookeeper_broker'
            when is_controller then 'zookeeper_controller'
            else 'zookeeper_client'
        end as session_kind,
        node_id,
        coalesce(cast(node_id as string), client_id, 'session 0x' || session_id) as owner,
        session_id,
        timeout_ms,
        last_contact_at,
        expired_at,
        lost_at as noticed_at,
        cast(null as timestamp) as unfenced_at,
        cast(null as array<struct<node_id: int, source_path: string, byte_offset: bigint>>)
            as unfenced_evidence,
        is_end_logged,
        is_end_doubtful,
        false as is_left_behind,
        false as is_unconfirmed,
        evidence,
        evidence_count
    from placed
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
        end_evidence as unfenced_evidence,
        true as is_end_logged,
        false as is_end_doubtful,
        is_left_behind,
        is_unconfirmed,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence,
        cast(1 as bigint) as evidence_count
    from fencings
)

select * from final
