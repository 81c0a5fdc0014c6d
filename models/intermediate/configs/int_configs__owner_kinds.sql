with printed as (
    select * from {{ ref('int_configs__printed') }}
),

-- The kind of the owner, from settings that only that kind has.
final as (
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
            -- The old consumer knows no bootstrap.servers.
            when settings['bootstrap.servers'] is not null and settings['group.id'] is not null
                then 'consumer'
            when settings['zookeeper.connect'] is not null and settings['group.id'] is not null
                then 'old_consumer'
            when
                settings['bootstrap.servers'] is not null
                and coalesce(settings['acks'], settings['key.serializer']) is not null
                then 'producer'
            else 'other'
        end as owner_kind
    from printed
)

select * from final
