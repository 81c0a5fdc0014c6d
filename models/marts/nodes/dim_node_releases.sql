with releases as (
    select * from {{ ref('int_nodes__releases') }}
),

compared as (
    select
        *,
        lag(struct(kafka_version)) over (
            partition by cluster_id, node_id order by run_number
        ) as previous
    from releases
),

-- Runs of a node that follow on one another under the same release.
numbered as (
    select
        *,
        sum(if(previous.kafka_version <=> kafka_version and previous is not null, 0, 1)) over (
            partition by cluster_id, node_id
            order by run_number
            rows between unbounded preceding and current row
        ) as stretch_number
    from compared
),

stretches as (
    select
        cluster_id,
        node_id,
        stretch_number,
        kafka_version,
        min(run_at) as began_at,
        min(release_known_from) as valid_from,
        bool_and(is_reported_by_others) as is_reported_by_others
    from numbered
    group by cluster_id, node_id, stretch_number, kafka_version
),

followed as (
    select
        *,
        lead(began_at) over (
            partition by cluster_id, node_id order by stretch_number
        ) as valid_to
    from stretches
),

final as (
    select
        {{ row_key(['cluster_id', 'node_id', 'valid_from']) }} as node_release_key,
        {{ row_key(['cluster_id', 'node_id']) }} as node_key,
        cluster_id,
        node_id,
        valid_from,
        valid_to,
        valid_to is null as is_current,
        kafka_version,
        if(is_reported_by_others, 'other_nodes', 'log') as known_by
    from followed
    where kafka_version is not null and coalesce(valid_to > valid_from, true)
)

select * from final
