with reported as (
    select * from {{ ref('int_partitions__isr_messages') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

deleted as (
    select * from {{ ref('int_partitions__isr_deletions') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        statement_kind,
        leader_epoch,
        partition_epoch,
        cast(null as int) as controller_epoch,
        isr_before,
        isr
    from reported
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        'claimed' as statement_kind,
        leader_epoch,
        partition_epoch,
        controller_epoch,
        cast(null as array<int>) as isr_before,
        isr
    from claims
    where isr is not null
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        'deleted' as statement_kind,
        cast(null as int) as leader_epoch,
        cast(null as int) as partition_epoch,
        cast(null as int) as controller_epoch,
        cast(null as array<int>) as isr_before,
        isr
    from deleted
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        evidence[0].node_id as node_id,
        elected_at as logged_at,
        evidence[0].source_path as source_path,
        evidence[0].byte_offset as byte_offset,
        'emptied' as statement_kind,
        leader_epoch,
        partition_epoch,
        controller_epoch,
        cast(null as array<int>) as isr_before,
        isr
    from epochs
    where is_isr_emptied
)

select * from final
