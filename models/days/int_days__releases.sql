with releases as (
    select * from {{ ref('int_nodes__releases') }}
    where kafka_version is not null
),

runs as (
    select * from {{ ref('dim_node_runs') }}
),

ran as (
    select
        releases.cluster_id,
        releases.kafka_version,
        releases.release_numbers,
        releases.release_known_from as ran_from,
        greatest(runs.stopped_at, runs.last_seen_at) as ran_until
    from releases
    inner join runs using (cluster_id, node_id, run_number)
),

days as (
    select
        *,
        explode(
            sequence(cast(ran_from as date), cast(ran_until as date), interval 1 day)
        ) as event_date
    from ran
    where ran_from <= ran_until
),

grouped as (
    select
        cluster_id,
        event_date,
        sort_array(collect_set(struct(release_numbers, kafka_version))) as releases
    from days
    group by cluster_id, event_date
),

final as (
    select
        cluster_id,
        event_date,
        element_at(releases, -1).kafka_version as kafka_version,
        releases.kafka_version as kafka_versions
    from grouped
)

select * from final
