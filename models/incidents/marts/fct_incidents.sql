{{ config(meta={'at': 'started_at'}) }}

with members as (
    select * from {{ ref('int_incidents__members') }}
),

minimums as (
    select
        *,
        concat(topic_name, '-', partition_id) as partition_name
    from {{ ref('int_incidents__isr_minimums') }}
),

consumer_groups as (
    select * from {{ ref('dim_groups') }}
),

clusters as (
    select * from {{ ref('dim_clusters') }}
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

-- With acks=all nothing can be written while fewer replicas are in sync than min.insync.replicas asks for. What had begun before
-- the event counts for the incident before.
touched as (
    select
        shrunk.incident_key,
        shrunk.cluster_id,
        shrunk.cluster_incarnation,
        shrunk.partition_name,
        minimums.started_at,
        minimums.ended_at,
        minimums.is_known_later,
        minimums.is_under_min_isr,
        max(minimums.started_at >= shrunk.started_at) as has_begun_since
    from shrunk
    left join minimums
        on
            shrunk.cluster_id = minimums.cluster_id
            and shrunk.cluster_incarnation = minimums.cluster_incarnation
            and shrunk.partition_name = minimums.partition_name
            and coalesce(shrunk.ended_at > minimums.started_at, true)
            and coalesce(shrunk.started_at < minimums.ended_at, true)
    group by all
),

-- Where nothing states the minimum of a partition that lost replicas, nothing says how long it was below it.
under_min_isr as (
    select
        incident_key,
        sum(
            greatest(
                0,
                unix_millis(coalesce(touched.ended_at, clusters.last_seen_at))
                - unix_millis(touched.started_at)
            )
        )
        filter (where is_under_min_isr and has_begun_since) as under_min_isr_ms,
        count(distinct if(is_under_min_isr is null, partition_name, null)) as partitions_unknown,
        count(distinct if(is_known_later, partition_name, null)) as partitions_known_later,
        sort_array(collect_set(if(is_under_min_isr and has_begun_since, partition_name, null)))
            as short_partitions
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
        -- Symptoms count until their harm is over: rows of an hour go on to its end.
        case
            when count_if(ended_at is null and (is_harm or is_planned)) = 0
                then
                    max(
                        if(is_harm or is_planned, coalesce(ended_at, started_at), started_at)
                    )
        end as ended_at,
        max_by(root_cause_kind, is_root) as root_cause_kind,
        max_by(event_kind, is_root) as root_event_kind,
        max(fact_key) filter (where is_root) as root_cause_key,
        max(sentence) filter (where is_root) as root_sentence,
        max(as_cause) filter (where is_root) as root_as_cause,
        max_by(severity, array_position(array('info', 'minor', 'major', 'critical'), severity))
        filter (where is_harm) as severity,
        sort_array(array_distinct(flatten(collect_list(node_ids)))) as nodes,
        size(array_distinct(flatten(collect_list(nodes_stopped)))) as nodes_stopped,
        size(array_distinct(flatten(collect_list(partitions)))) as partitions_affected,
        sum(coalesce(leaderless_ms, 0)) as leaderless_ms,
        max(leaderless_max_ms) as leaderless_max_ms,
        sort_array(array_distinct(flatten(collect_list(partitions_leaderless))))
            as leaderless_partitions,
        count_if(event_kind = 'leaderless' and ended_at is null) as leaderless_open,
        coalesce(sum(amount_total) filter (where event_kind = 'writes_refused'), 0)
            as writes_refused,
        count_if(event_kind = 'writes_refused') as refusals,
        coalesce(sum(amount_total) filter (where event_kind = 'late_controller_writes'), 0)
            as late_writes,
        count_if(event_kind = 'quorum_lost') > 0 as has_lost_quorum,
        count_if(event_kind = 'quorum_lost' and ended_at is null) > 0 as is_quorum_open,
        max(duration_max_ms) filter (where event_kind = 'quorum_lost') as quorum_lost_ms,
        sort_array(array_distinct(flatten(
            collect_list(partitions) filter (where event_kind = 'writes_refused')
        ))) as refused_partitions,
        sort_array(array_distinct(flatten(
            collect_list(partitions) filter (where event_kind = 'unclean_election')
        ))) as unclean_partitions,
        sort_array(array_distinct(flatten(
            collect_list(node_ids) filter (where event_kind = 'unclean_election')
        ))) as unclean_nodes,
        flatten(collect_list(facts) filter (where event_kind = 'unclean_election'))
            as unclean_elections,
        flatten(collect_list(facts) filter (where event_kind = 'records_truncated'))
            as truncations,
        max_by(evidence, is_root) as evidence,
        max_by(evidence_count, is_root) as evidence_count
    from counted
    group by incident_key
),

-- What a replica truncates after an unclean election of its partition is lost to those who had written it, at most: of several replicas the
-- one that truncated most.
lost as (
    select
        *,
        filter(
            transform(
                array_distinct(transform(unclean_elections, election -> election.partition_name)),
                partition_name -> struct(
                    partition_name,
                    array_max(
                        transform(
                            filter(
                                truncations,
                                cut -> cut.partition_name = partition_name
                                and exists(
                                    unclean_elections,
                                    election -> election.partition_name = partition_name
                                    and election.happened_at <= cut.happened_at
                                )
                            ),
                            cut -> cut.amount
                        )
                    ) as records
                )
            ),
            loss -> loss.records > 0
        ) as losses
    from summed
),

joined as (
    select
        lost.*,
        -- No truncation tells how many records an unclean election cost: unknown.
        case
            when size(unclean_partitions) = 0 then 0
            when size(losses) > 0
                then aggregate(losses, 0L, (total, loss) -> total + loss.records)
        end as max_records_lost,
        transform(losses, loss -> loss.partition_name) as lost_partitions,
        coalesce(under_min_isr.short_partitions, array()) as short_partitions,
        coalesce(incident_groups.groups, array()) as groups,
        coalesce(under_min_isr.partitions_unknown, 0) as partitions_without_minimum,
        coalesce(under_min_isr.partitions_known_later, 0) as partitions_known_later,
        case
            when under_min_isr.under_min_isr_ms is not null then under_min_isr.under_min_isr_ms
            when coalesce(under_min_isr.partitions_unknown, 0) = 0 and lost.refusals = 0 then 0
        end as under_min_isr_ms
    from lost
    left join incident_groups on lost.incident_key = incident_groups.incident_key
    left join under_min_isr on lost.incident_key = under_min_isr.incident_key
),

-- The harms of an incident, worst first. To a linter every var is a text.
judged as (
    select
        *,
        array_compact(array(
            {%- for harm, sentence in (var('harms') if var('harms') is mapping else {}).items() %}
                case when {{ incident_harms()[harm] }} then {{ fill_harm(sentence) }} end
                {{- ',' if not loop.last }}
            {%- endfor %}
        )) as harms
    from joined
),

-- The worst harm with its cause, and the next harm; without any, what began it.
told as (
    select
        *,
        if(
            size(harms) = 0,
            root_sentence,
            concat(
                if(
                    root_as_cause is null,
                    trim(trailing ',' from get(harms, 0)),
                    concat(get(harms, 0), ' after ', root_as_cause)
                ),
                '.',
                coalesce(concat(' ', trim(trailing ',' from get(harms, 1)), '.'), '')
            )
        ) as summary
    from judged
),

final as (
    select
        incident_key,
        {{ cluster_key() }} as cluster_key,
        cluster_id,
        cluster_incarnation,
        started_at,
        ended_at,
        {{ stretch(last_seen='last_seen_at') }},
        cast(started_at as date) as started_date,
        is_maintenance,
        case
            when is_maintenance and nodes_stopped > 1 then 'rolling_restart'
            else root_cause_kind
        end as root_cause_kind,
        root_cause_key,
        summary,
        -- Each stop takes replicas out of sync; what it costs beyond that counts.
        case
            when is_maintenance and coalesce(severity, 'minor') = 'minor' then 'info'
            else coalesce(severity, 'minor')
        end as severity,
        nodes,
        cast(partitions_affected as bigint) as partitions_affected,
        leaderless_ms,
        cast(under_min_isr_ms as bigint) as under_min_isr_ms,
        cast(max_records_lost as bigint) as max_records_lost,
        groups,
        cast(size(groups) as bigint) as groups_affected,
        evidence,
        evidence_count,
        {{
            warnings({
                'no fact shows the cause: this is the earliest symptom':
                    "not is_maintenance and root_event_kind in "
                    "('session_expired', 'leader_lost', 'leaderless', 'quorum_lost', 'isr_shrunk', 'isr_lost', 'stale_node', 'fetch_disconnects', 'writes_refused')",
                'min.insync.replicas is unknown for some partitions that lost replicas: the time below it is null or leaves them out': 'partitions_without_minimum > 0',
                'the replicas or min.insync.replicas of some partitions are known only from later records: the time below it takes them as they were then': 'partitions_known_later > 0',
                'concluded: each of the two nodes found the other out of sync, and neither stood still': "root_event_kind = 'network_cut'",
                'some partitions still have no leader at the end of the logs, up to which their time counts': 'leaderless_open > 0'
            })
        }} as warnings
    from told
)

select * from final
