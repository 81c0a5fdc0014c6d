with told as (
    select * from {{ ref('int_partitions__isr_told') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

tellings as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        telling_kind,
        leader_epoch,
        partition_epoch,
        cast(null as int) as controller_epoch,
        isr_before,
        isr
    from told
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        'claimed' as telling_kind,
        leader_epoch,
        partition_epoch,
        controller_epoch,
        cast(null as array<int>) as isr_before,
        isr
    from claims
    where isr is not null
),

-- A version names a state. Where none is printed, a leader's line is a state of its own, and the controller writes one
-- state per leader epoch: what it sends later in the same epoch is a copy that may be old.
named as (
    select
        *,
        case
            when partition_epoch is not null then concat('version ', partition_epoch)
            when telling_kind = 'claimed' then concat('leader epoch ', leader_epoch)
            else concat_ws(' ', 'line', logged_at, node_id, array_join(isr, ','))
        end as state_name,
        array_sort(isr) as isr_members
    from tellings
),

candidates as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        state_name,
        isr_members,
        partition_epoch,
        max(leader_epoch) as leader_epoch,
        max(case when partition_epoch is not null then coalesce(controller_epoch, -1) else -1 end)
            as version_controller_epoch,
        max(case telling_kind when 'claimed' then 0 else 1 end) as is_told_by_leader,
        min(logged_at) as told_at,
        min_by(struct(node_id, isr), struct(logged_at, source_path, byte_offset)) as first_told,
        max(isr_before) as isr_before,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from named
    group by all
),

-- Where lines differ on a state, the leader's own words hold, then for a version the latest controller's, then the first.
final as (
    {{
        latest_per(
            'candidates',
            ['cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_life', 'state_name'],
            ['is_told_by_leader desc', 'version_controller_epoch desc', 'told_at', 'isr_members']
        )
    }}
)

select * from final
