{{ config(materialized='table', meta={'at': 'logged_at'}) }}

with logged as (
    select * from {{ ref('stg_logs__partition_claims') }}
),

stored as (
    select * from {{ ref('stg_captures__partition_states') }}
),

replayed as (
    select * from {{ ref('int_partitions__metadata_replayed') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

stale_terms as (
    select * from {{ ref('int_controllers__stale_terms') }}
),

-- A znode that is read repeatedly counts once; its time is its last change if the stat is printed.
first_read as (
    {{
        latest_per(
            'stored',
            ['cluster_id', 'topic_name', 'partition_id', 'leader_epoch', 'leader_id', 'controller_epoch'],
            ['coalesce(modified_at, captured_at)', 'source_path', 'byte_offset', 'row_number']
        )
    }}
),

-- One row per record that says who leads a partition in which epoch.
claims as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        event_type,
        claim_kind,
        reported_by,
        topic_name,
        partition_id,
        topic_id,
        state_before,
        leader_id,
        leader_epoch,
        partition_epoch,
        isr,
        replicas,
        controller_epoch,
        controller_id,
        start_offset
    from logged
    where leader_epoch >= 0
    union all
    -- Brokers do not log that a partition has no leader. A controller prints it when it happens, and again after each of its starts.
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        event_type,
        claim_kind,
        reported_by,
        topic_name,
        partition_id,
        topic_id,
        state_before,
        -1 as leader_id,
        leaderless_epoch as leader_epoch,
        cast(null as int) as partition_epoch,
        cast(null as array<int>) as isr,
        cast(null as array<int>) as replicas,
        cast(null as int) as controller_epoch,
        cast(null as int) as controller_id,
        cast(null as bigint) as start_offset
    from logged
    where leaderless_epoch >= 0
    union all
    select
        cluster_id,
        node_id,
        coalesce(modified_at, captured_at) as logged_at,
        source_path,
        byte_offset,
        'partition_state_read' as event_type,
        'stored' as claim_kind,
        'znode' as reported_by,
        topic_name,
        partition_id,
        cast(null as string) as topic_id,
        cast(null as string) as state_before,
        leader_id,
        leader_epoch,
        cast(null as int) as partition_epoch,
        isr,
        cast(null as array<int>) as replicas,
        controller_epoch,
        cast(null as int) as controller_id,
        cast(null as bigint) as start_offset
    from first_read
    union all
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        lower(record_type) as event_type,
        'stored' as claim_kind,
        'metadata_dump' as reported_by,
        topic_name,
        partition_id,
        topic_id,
        cast(null as string) as state_before,
        leader_id,
        leader_epoch,
        cast(null as int) as partition_epoch,
        isr,
        replicas,
        cast(null as int) as controller_epoch,
        cast(null as int) as controller_id,
        cast(null as bigint) as start_offset
    from replayed
),

placed as (
    {{ placed('claims') }}
    where {{ since('claims.logged_at') }}
),

-- A KRaft controller whose term is over prints changes that are never committed.
committed as (
    select placed.*
    from placed
    left anti join stale_terms
        on {{ in_stale_term('placed') }} and placed.claim_kind in ('controller', 'successor')
),

-- A new incarnation of a topic begins with a record of a new id or of its creation; everything before is the first.
final as (
    select
        committed.cluster_id,
        committed.cluster_incarnation,
        committed.topic_name,
        committed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        committed.leader_epoch,
        committed.partition_epoch,
        committed.node_id,
        committed.logged_at,
        committed.source_path,
        committed.byte_offset,
        committed.event_type,
        committed.claim_kind,
        committed.reported_by,
        committed.topic_id,
        committed.state_before,
        committed.leader_id,
        committed.isr,
        committed.replicas,
        committed.controller_epoch,
        committed.controller_id,
        committed.start_offset
    from committed
    left join lives
        on
            committed.cluster_id = lives.cluster_id
            and committed.cluster_incarnation = lives.cluster_incarnation
            and committed.topic_name = lives.topic_name
            and case
                when committed.topic_id is not null and lives.topic_id is not null
                    then committed.topic_id = lives.topic_id
                else {{ in_life('committed') }}
            end
)

select * from final
