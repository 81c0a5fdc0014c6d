with consumer_groups as (
    select * from {{ ref('dim_groups') }}
),

members as (
    select * from {{ ref('int_incidents__members') }}
),

windows as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

settings as (
    select * from {{ ref('dim_partition_settings') }}
),

clusters as (
    select * from {{ ref('dim_clusters') }}
),

-- One more replica out of sync when a window begins, one less when it ends. What is set for the partition may change meanwhile.
turns as (
    select
        cluster_id,
        topic_key,
        partition_id,
        stack(2, started_at, 1, ended_at, -1) as (turned_at, change),
        cast(
            null as
            struct<replication_factor: int, min_insync_replicas: int, known_from: timestamp>
        ) as setting,
        concat(topic_name, '-', partition_id) as partition_name
    from windows
    union all
    select
        settings.cluster_id,
        settings.topic_key,
        settings.partition_id,
        settings.valid_from as turned_at,
        0 as change,
        struct(settings.replication_factor, settings.min_insync_replicas, settings.known_from)
            as setting,
        concat(settings.topic_name, '-', settings.partition_id) as partition_name
    from settings
    left semi join windows
        on
            settings.cluster_id = windows.cluster_id
            and settings.topic_key = windows.topic_key
            and settings.partition_id = windows.partition_id
),

changed as (
    select
        cluster_id,
        topic_key,
        partition_id,
        partition_name,
        turned_at,
        sum(change) as change,
        max(setting) as setting
    from turns
    where turned_at is not null
    group by cluster_id, topic_key, partition_id, partition_name, turned_at
),

by_turn as (
    select
        *,
        sum(change) over (
            partition by cluster_id, topic_key, partition_id
            order by turned_at
            rows between unbounded preceding and current row
        ) as out_of_sync,
        last_value(setting, true) over (
            partition by cluster_id, topic_key, partition_id
            order by turned_at
            rows between unbounded preceding and current row
        ) as held,
        lead(turned_at) over (
            partition by cluster_id, topic_key, partition_id order by turned_at
        ) as next_turn_at
    from changed
),

-- With acks=all nothing can be written while fewer replicas are in sync than min.insync.replicas asks for.
stretches as (
    select
        cluster_id,
        partition_name,
        turned_at,
        next_turn_at,
        held.replication_factor - out_of_sync < held.min_insync_replicas as is_under_minimum,
        held.known_from > next_turn_at as is_known_later
    from by_turn
    where out_of_sync > 0
),

shrunk as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        explode(partitions) as partition_name,
        started_at,
        ended_at
    from members
    where event_kind in ('isr_shrunk', 'isr_lost')
),

touched as (
    select distinct
        shrunk.incident_key,
        shrunk.cluster_incarnation,
        stretches.*
    from shrunk
    inner join stretches
        on
            shrunk.cluster_id = stretches.cluster_id
            and shrunk.partition_name = stretches.partition_name
            and shrunk.started_at <= stretches.turned_at
            and (shrunk.ended_at is null or shrunk.ended_at > stretches.turned_at)
),

-- Without the minimum or the number of replicas of a partition that lost some, nothing tells how long it was below the minimum.
under_min_isr as (
    select
        incident_key,
        sum(
            greatest(
                0,
                unix_millis(coalesce(next_turn_at, clusters.last_seen_at)) - unix_millis(turned_at)
            )
        )
        filter (where is_under_minimum) as under_min_isr_ms,
        count(distinct if(is_under_minimum is null, partition_name, null)) as partitions_unknown,
        count(distinct if(is_under_minimum is not null and is_known_later, partition_name, null))
            as partitions_known_later
    from touched
    left join clusters using (cluster_id, cluster_incarnation)
    group by incident_key
),

unserved as (
    select
        incident_key,
        cluster_id,
        cluster_incarnation,
        explode(partitions) as partition_name
    from members
    where event_kind in ('leaderless', 'load_unfinished')
),

-- A group depends on its partition of the offsets topic, whether or not any record says that it was affected.
hung as (
    select
        unserved.incident_key,
        consumer_groups.group_id
    from unserved
    inner join consumer_groups
        on
            unserved.cluster_id = consumer_groups.cluster_id
            and unserved.cluster_incarnation = consumer_groups.cluster_incarnation
            and unserved.partition_name
            = concat('__consumer_offsets-', consumer_groups.offsets_partition_id)
    union
    select
        incident_key,
        explode(group_ids) as group_id
    from members
),

-- One row per incident that kept groups from working: those that its events name, and those
-- whose offsets partition had no leader or was not loaded.
incident_groups as (
    select
        incident_key,
        sort_array(collect_list(group_id)) as groups
    from hung
    group by incident_key
),

-- What has no end lasts until the logs of the cluster end.
counted as (
    select
        members.*,
        clusters.last_seen_at,
        if(event_kind = 'leaderless', partitions, array()) as partitions_leaderless,
        if(
            event_kind = 'leaderless',
            coalesce(duration_total_ms, 0)
            + aggregate(
                leaderless_since,
                0L,
                (total, since) -> total
                + greatest(
                    0L, coalesce(unix_millis(clusters.last_seen_at) - unix_millis(since), 0L)
                )
            ),
            0
        ) as leaderless_ms,
        if(
            event_kind = 'leaderless',
            greatest(
                duration_max_ms,
                unix_millis(clusters.last_seen_at) - unix_millis(array_min(leaderless_since))
            ),
            null
        ) as leaderless_max_ms,
        if(event_kind = 'controlled_stop', node_ids, array()) as nodes_stopped
    from members
    left join clusters using (cluster_id, cluster_incarnation)
),

summed as (
    select
        incident_key,
        max(cluster_id) as cluster_id,
        max(cluster_incarnation) as cluster_incarnation,
        max(last_seen_at) as last_seen_at,
        max(is_planned) filter (where is_root) as is_maintenance,
        -- A row of hourly growth begins at the full hour, before the growth itself.
        min(started_at) filter (where is_root or event_kind <> 'offsets_growth') as started_at,
        case
            when count_if(ended_at is null and (is_harm or is_planned)) = 0
                then
                    max(coalesce(ended_at, started_at)) filter (where is_harm or is_planned)
        end as ended_at,
        max_by(root_cause_kind, is_root) as root_cause_kind,
        max_by(event_kind, is_root) as root_event_kind,
        max(fact_key) filter (where is_root) as root_cause_key,
        max(sentence) filter (where is_root) as root_sentence,
        max_by(severity, array_position(array('info', 'minor', 'major', 'critical'), severity))
        filter (where is_harm) as severity,
        sort_array(array_distinct(flatten(collect_list(node_ids)))) as nodes,
        size(array_distinct(flatten(collect_list(nodes_stopped)))) as nodes_stopped,
        size(array_distinct(flatten(collect_list(partitions)))) as partitions_affected,
        sum(coalesce(leaderless_ms, 0)) as leaderless_ms,
        max(leaderless_max_ms) as leaderless_max_ms,
        size(array_distinct(flatten(collect_list(partitions_leaderless)))) as partitions_leaderless,
        count_if(event_kind = 'leaderless' and ended_at is null) as leaderless_open,
        count_if(event_kind = 'writes_refused') as refusals,
        max_by(evidence, is_root) as evidence,
        max_by(evidence_count, is_root) as evidence_count
    from counted
    group by incident_key
),

final as (
    select
        summed.*,
        coalesce(incident_groups.groups, array()) as groups,
        coalesce(under_min_isr.partitions_unknown, 0) as partitions_without_minimum,
        coalesce(under_min_isr.partitions_known_later, 0) as partitions_known_later,
        case
            when under_min_isr.under_min_isr_ms is not null then under_min_isr.under_min_isr_ms
            when coalesce(under_min_isr.partitions_unknown, 0) = 0 and summed.refusals = 0 then 0
        end as under_min_isr_ms
    from summed
    left join incident_groups on summed.incident_key = incident_groups.incident_key
    left join under_min_isr on summed.incident_key = under_min_isr.incident_key
)

select * from final
