with owned as (
    select * from {{ ref('int_configs__owned') }}
),

node_facts as (
    select * from {{ ref('int_configs__node_facts') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

last_releases as (
    {{ latest_per('releases', ['cluster_id', 'node_id'], 'run_number desc') }}
),

-- For a node whose configuration is not in the evidence, only rules that need none are checked.
unprinted as (
    select
        node_facts.cluster_id,
        node_facts.node_id,
        array_max(
            transform(map_values(node_facts.lines), line -> line.measured_at)
        ) as found_at,
        last_releases.kafka_version,
        last_releases.cluster_mode
    from node_facts
    left join last_releases
        on
            node_facts.cluster_id = last_releases.cluster_id
            and node_facts.node_id = last_releases.node_id
    left anti join owned
        on
            node_facts.cluster_id = owned.cluster_id
            and node_facts.node_id = owned.node_id
            and owned.owner_kind = 'broker'
    where node_facts.node_id is not null
),

final as (
    select
        cluster_id,
        node_id,
        source_id,
        source_path,
        found_at,
        byte_offset,
        offsets,
        owner_kind,
        owner,
        kafka_version,
        cluster_mode,
        settings,
        release_since,
        first_release
    from owned
    union all
    select
        cluster_id,
        node_id,
        cast(null as string) as source_id,
        cast(null as string) as source_path,
        found_at,
        cast(null as bigint) as byte_offset,
        map('', cast(null as bigint)) as offsets,
        'broker' as owner_kind,
        cast(node_id as string) as owner,
        kafka_version,
        cluster_mode,
        map('', '') as settings,
        cast(null as timestamp) as release_since,
        cast(null as string) as first_release
    from unprinted
)

select * from final
