{{ config(materialized='table') }}

with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

starts as (
    select * from {{ ref('int_nodes__starts') }}
),

-- The first line of each run that prints the release.
reported as (
    select
        cluster_id,
        node_id,
        run_number,
        min(struct(logged_at, source_path, byte_offset, kafka_version)) as line
    from starts
    where {{ has_role('kafka_version') }} and kafka_version is not null
    group by cluster_id, node_id, run_number
),

-- Logs often lack the start of a run: if all other runs of the cluster print the same release, assume that one.
reported_by_others as (
    select
        cluster_id,
        min(struct(line.logged_at, line.source_path, line.byte_offset, line.kafka_version, node_id))
            as line
    from reported
    group by cluster_id
    having size(collect_set(line.kafka_version)) = 1
),

joined as (
    select
        runs.node_run_key,
        runs.cluster_id,
        runs.cluster_incarnation,
        runs.node_id,
        runs.run_number,
        coalesce(reported.line.kafka_version, reported_by_others.line.kafka_version)
            as kafka_version,
        reported.line is null and reported_by_others.line is not null as is_reported_by_others,
        runs.process_roles,
        runs.zookeeper_connect,
        runs.is_kraft,
        coalesce(runs.started_at, runs.first_seen_at) as run_at,
        runs.ready_at,
        case
            when reported.line is not null
                then named_struct(
                    'node_id', runs.node_id,
                    'source_path', reported.line.source_path,
                    'byte_offset', reported.line.byte_offset
                )
            when reported_by_others.line is not null
                then named_struct(
                    'node_id', reported_by_others.line.node_id,
                    'source_path', reported_by_others.line.source_path,
                    'byte_offset', reported_by_others.line.byte_offset
                )
        end as release_line
    from runs
    left join reported
        on
            runs.cluster_id = reported.cluster_id
            and runs.node_id = reported.node_id
            and runs.run_number = reported.run_number
    left join reported_by_others on runs.cluster_id = reported_by_others.cluster_id
),

final as (
    select
        * except (process_roles, zookeeper_connect, is_kraft),
        {{ release_numbers('kafka_version') }} as release_numbers,
        case
            when process_roles is not null then 'kraft'
            -- A broker that migrates prints signs of KRaft while it is ZooKeeper's.
            when zookeeper_connect is not null then 'zookeeper'
            when is_kraft then 'kraft'
            when {{ release_numbers('kafka_version') }} >= array(4) then 'kraft'
            when {{ release_numbers('kafka_version') }} < array(2, 8) then 'zookeeper'
        end as cluster_mode,
        -- Anything before a node's first record belongs to its first run; anything after its last,
        -- or without a time, to its last run.
        case
            when lag(run_number) over (partition by cluster_id, node_id order by run_number) is null
                then timestamp '1970-01-01 00:00:00'
            else run_at
        end as valid_from,
        coalesce(
            lead(run_at) over (partition by cluster_id, node_id order by run_number),
            timestamp '9999-01-01 00:00:00'
        ) as valid_to,
        -- The restart of a run that prints no release may have been the upgrade to the one that the others print: that holds from
        -- the time on at which one of them runs.
        case
            when kafka_version is null then null
            when not is_reported_by_others then run_at
            else
                greatest(
                    run_at,
                    min(if(is_reported_by_others, null, run_at)) over (partition by cluster_id)
                )
        end as release_known_from,
        min(run_at) over (partition by cluster_id, node_id, kafka_version) as release_since,
        min_by(kafka_version, run_number) over (partition by cluster_id, node_id) as first_release
    from joined
)

select * from final
