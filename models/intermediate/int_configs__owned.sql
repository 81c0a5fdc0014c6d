{{ config(materialized='table', file_format='parquet') }}

with printed as (
    select * from {{ ref('int_configs__printed') }}
),

client_releases as (
    select * from {{ ref('stg_logs__client_releases') }}
),

releases as (
    select * from {{ ref('int_nodes__releases') }}
),

-- Whose settings they are, by those that only its kind has.
kinds as (
    select
        *,
        case
            when config_class = 'ConsumerConfig' then 'consumer'
            when config_class = 'ProducerConfig' then 'producer'
            when config_class = 'KafkaConfig' then 'broker'
            when config_class is not null then 'other'
            when settings['config.storage.topic'] is not null then 'other'
            when
                coalesce(settings['broker.id'], settings['node.id'], settings['process.roles'])
                is not null
                or coalesce(settings['log.dirs'], settings['log.dir']) is not null
                then 'broker'
            when settings['zookeeper.connect'] is not null and settings['group.id'] is not null
                then 'old_consumer'
            when settings['bootstrap.servers'] is not null and settings['group.id'] is not null
                then 'consumer'
            when
                settings['bootstrap.servers'] is not null
                and coalesce(settings['acks'], settings['key.serializer']) is not null
                then 'producer'
            else 'other'
        end as owner_kind
    from printed
),

owned as (
    select
        * except (node_id, config_class),
        coalesce(
            node_id,
            case
                when owner_kind = 'broker'
                    then try_cast(coalesce(settings['node.id'], settings['broker.id']) as int)
            end
        ) as node_id,
        case
            when owner_kind <> 'broker'
                then coalesce(
                    nullif(settings['client.id'], ''),
                    nullif(nullif(settings['group.id'], ''), 'null'),
                    source_path
                )
        end as client_id
    from kinds
    where owner_kind <> 'other'
),

source_releases as (
    select
        cluster_id,
        source_id,
        max(kafka_version) as kafka_version
    from client_releases
    group by cluster_id, source_id
),

final as (
    select
        owned.*,
        coalesce(owned.client_id, cast(owned.node_id as string)) as owner,
        if(owned.owner_kind = 'broker', releases.kafka_version, source_releases.kafka_version)
            as kafka_version,
        if(owned.owner_kind = 'broker', releases.mode, null) as mode,
        if(owned.owner_kind = 'broker', releases.release_since, null) as release_since,
        if(owned.owner_kind = 'broker', releases.first_release, null) as first_release
    from owned
    left join releases
        on
            owned.cluster_id = releases.cluster_id
            and owned.node_id = releases.node_id
            and coalesce(owned.found_at, timestamp '9998-01-01 00:00:00') >= releases.valid_from
            and coalesce(owned.found_at, timestamp '9998-01-01 00:00:00') < releases.valid_to
    left join source_releases
        on
            owned.cluster_id = source_releases.cluster_id
            and owned.source_id = source_releases.source_id
    where owned.owner_kind <> 'broker' or owned.node_id is not null
)

select * from final
