{{ config(materialized='table') }}

with kinds as (
    select * from {{ ref('int_configs__owner_kinds') }}
),

client_releases as (
    select * from {{ ref('stg_logs__client_releases') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

clients as (
    select * from {{ ref('int_clients__named') }}
),

owned as (
    select
        * except (node_id, config_class),
        {{ process_name() }} as process_name,
        coalesce(
            node_id,
            case
                -- -1 asks Kafka to choose an id.
                when owner_kind = 'broker'
                    then
                        nullif(
                            try_cast(coalesce(settings['node.id'], settings['broker.id']) as int),
                            -1
                        )
            end
        ) as node_id,
        settings['client.id'] as client_id,
        -- A client prints its settings before it prints its id.
        found_at + interval 5 seconds as named_at
    from kinds
    where owner_kind <> 'other'
),

written as (
    {{ with_owner('owned', at='named_at') }}
),

-- A ZooKeeper consumer has an id of its own besides its client.id: its group and either its
-- consumer.id or a part that it generates at start.
named as (
    select
        * except (client_id, owner, process_name, has_several_clients, named_at),
        case
            when owner_kind = 'broker' then cast(node_id as string)
            when owner_kind = 'old_consumer'
                then coalesce(
                    settings['group.id'] || '_' || settings['consumer.id'],
                    if(startswith(process_name, owner), client_id, null),
                    owner
                )
            else coalesce(client_id, owner)
        end as owner
    from written
),

source_releases as (
    select
        cluster_id,
        source_id,
        {{ newest_release('kafka_version') }} as kafka_version
    from client_releases
    group by cluster_id, source_id
),

final as (
    select
        named.*,
        if(named.owner_kind = 'broker', releases.kafka_version, source_releases.kafka_version)
            as kafka_version,
        if(named.owner_kind = 'broker', releases.cluster_mode, null) as cluster_mode,
        if(named.owner_kind = 'broker', releases.release_since, null) as release_since,
        if(named.owner_kind = 'broker', releases.first_release, null) as first_release
    from named
    left join releases
        on
            named.cluster_id = releases.cluster_id
            and named.node_id = releases.node_id
            and coalesce(named.found_at, timestamp '9998-01-01 00:00:00') >= releases.valid_from
            and coalesce(named.found_at, timestamp '9998-01-01 00:00:00') < releases.valid_to
    left join source_releases
        on
            named.cluster_id = source_releases.cluster_id
            and named.source_id = source_releases.source_id
    where named.owner_kind <> 'broker' or named.node_id is not null
)

select * from final
